package io.github.ratelimit.spring.web;

import java.io.IOException;

import io.github.ratelimit.StoreException;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.RateLimitedExpressionException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Answers requests in which a method with {@code @RateLimited}, or its caller, was
 * denied, or no decision could be made about it, unless the application handles that
 * itself. The exception may be the cause of another. A call whose arguments make no valid
 * cost or identifier is answered with 400 in the same way.
 * <p>
 * An {@code @ExceptionHandler} of the application comes first if it names
 * {@link RateLimitExceededException}, {@link CallerDeniedException},
 * {@link StoreException}, {@link RateLimitedExpressionException}, or one that wraps them,
 * whatever other handlers come before it. The response that it answers with has
 * {@code Retry-After} and the headers of the limits already, which it may replace. A
 * handler for {@code RuntimeException}, {@code Exception} or {@code Throwable}, which is
 * meant for failures, does not get them.
 *
 * @since 0.1
 */
public final class RateLimitExceededResolver implements HandlerExceptionResolver, Ordered {

	private static final Logger logger = LoggerFactory.getLogger(RateLimitExceededResolver.class);

	private final ServletPolicyEnforcer enforcer;

	/** Made at the first use, because they look at all beans of the application. */
	private final SingletonSupplier<SpecificExceptionHandlers> handlers;

	/**
	 * Creates a resolver.
	 * @param enforcer what answers denied requests
	 * @param context the application, which may have handlers of its own
	 */
	public RateLimitExceededResolver(ServletPolicyEnforcer enforcer, ApplicationContext context) {
		this.enforcer = enforcer;
		this.handlers = SingletonSupplier.of(() -> new SpecificExceptionHandlers(context));
	}

	/**
	 * Comes just before the application's exception handlers, whose order is 0.
	 */
	@Override
	public int getOrder() {
		return -1;
	}

	@Override
	public @Nullable ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response,
			@Nullable Object handler, Exception ex) {
		if (response.isCommitted()) {
			return null;
		}
		if (Causes.find(RateLimitedExpressionException.class, ex) != null) {
			ModelAndView handled = this.handlers.obtain().resolveException(request, response, handler, ex);
			return (handled != null) ? handled : badRequest(response);
		}
		Answer answer = Answer.to(ex);
		if (answer == null) {
			return null;
		}
		ModelAndView handled = this.handlers.obtain()
			.resolveException(request, this.enforcer.responseForExceptionHandlers(answer, response), handler, ex);
		if (handled != null) {
			return handled;
		}
		try {
			this.enforcer.reject(answer, request, response);
		}
		catch (IOException unreachable) {
			logger.debug("The client has not read that it was denied", unreachable);
		}
		return new ModelAndView();
	}

	private static ModelAndView badRequest(HttpServletResponse response) {
		try {
			response.sendError(HttpServletResponse.SC_BAD_REQUEST);
		}
		catch (IOException unreachable) {
			logger.debug("The client has not read that its request is invalid", unreachable);
		}
		return new ModelAndView();
	}

}
