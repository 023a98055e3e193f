package io.github.ratelimit.spring.web;

import io.github.ratelimit.spring.RateLimitExceededException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Answers requests in which a method with {@code @RateLimited} was denied, unless the
 * application handles the exception itself.
 *
 * @since 0.1
 */
public final class RateLimitExceededResolver implements HandlerExceptionResolver, Ordered {

	private final ServletPolicyEnforcer enforcer;

	/**
	 * Creates a resolver.
	 * @param enforcer what answers denied requests
	 */
	public RateLimitExceededResolver(ServletPolicyEnforcer enforcer) {
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
		if (!(ex instanceof RateLimitExceededException exceeded) || response.isCommitted()) {
			return null;
		}
		this.enforcer.reject(exceeded.getDecision(), response);
		return new ModelAndView();
	}

}
