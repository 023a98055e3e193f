package io.github.ratelimit.spring.web;

import java.io.IOException;

import io.github.ratelimit.spring.CallerDeniedException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.Ordered;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Answers requests in which the caller of a method with {@code @RateLimited} was denied
 * whatever its limits say, unless the application handles the exception itself. The
 * exception may be the cause of another.
 *
 * @since 0.1
 */
public final class CallerDeniedResolver implements HandlerExceptionResolver, Ordered {

	private static final Logger logger = LoggerFactory.getLogger(CallerDeniedResolver.class);

	/** Chains of causes may be circles. */
	private static final int LONGEST_CHAIN = 50;

	private final ServletPolicyEnforcer enforcer;

	/**
	 * Creates a resolver.
	 * @param enforcer what answers denied requests
	 */
	public CallerDeniedResolver(ServletPolicyEnforcer enforcer) {
		this.enforcer = enforcer;
	}

	/**
	 * Comes after the application's exception handlers, whose order is 0.
	 */
	@Override
	public int getOrder() {
		return 1;
	}

	@Override
	public @Nullable ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response,
			@Nullable Object handler, Exception ex) {
		if (response.isCommitted() || !isCallerDenied(ex)) {
			return null;
		}
		try {
			this.enforcer.forbid(response);
		}
		catch (IOException failure) {
			logger.debug("The client has not read that it was denied", failure);
		}
		return new ModelAndView();
	}

	private static boolean isCallerDenied(Throwable ex) {
		Throwable cause = ex;
		for (int depth = 0; cause != null && depth < LONGEST_CHAIN; depth++) {
			if (cause instanceof CallerDeniedException) {
				return true;
			}
			cause = cause.getCause();
		}
		return false;
	}

}
