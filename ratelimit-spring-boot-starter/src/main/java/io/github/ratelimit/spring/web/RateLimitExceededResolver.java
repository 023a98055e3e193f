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
 * Answers requests in which a method with {@code @RateLimited} was denied, its caller was
 * denied, or the store failed, unless an exception handler of the application does. A
 * call whose arguments make no valid cost or identifier is answered with 400. The
 * exception may be the cause of another.
 * <p>
 * An {@code @ExceptionHandler} of the application is called first if it names
 * {@link RateLimitExceededException}, {@link CallerDeniedException},
 * {@link StoreException}, {@link RateLimitedExpressionException}, or an exception that
 * wraps one of them, regardless of the order of other handlers. Its response already has
 * {@code Retry-After} and the headers of the limits, which it may replace. Handlers for
 * {@code RuntimeException}, {@code Exception} or {@code Throwable} are meant for
 * failures, and are not called.
 */
final class RateLimitExceededResolver implements HandlerExceptionResolver, Ordered {

	private static final Logger logger = LoggerFactory.getLogger(RateLimitExceededResolver.class);

	private final LimitedResponses responses;

	/** Created at the first use, because this searches all beans. */
	private final SingletonSupplier<SpecificExceptionHandlers> handlers;

	/**
	 * Creates a resolver.
	 * @param responses answers denied requests
	 * @param context the application, which may have exception handlers
	 */
	public RateLimitExceededResolver(LimitedResponses responses, ApplicationContext context) {
		this.responses = responses;
		this.handlers = SingletonSupplier.of(() -> new SpecificExceptionHandlers(context));
	}

	/**
	 * Runs just before the application's exception handlers, whose order is 0.
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
		if (Answer.find(RateLimitedExpressionException.class, ex) != null) {
			ModelAndView handled = this.handlers.obtain().resolveException(request, response, handler, ex);
			return (handled != null) ? handled : badRequest(response);
		}
		Answer answer = Answer.to(ex);
		if (answer == null) {
			return null;
		}
		ModelAndView handled = this.handlers.obtain()
			.resolveException(request, this.responses.forExceptionHandlers(answer, response), handler, ex);
		if (handled != null) {
			return handled;
		}
		try {
			this.responses.reject(answer, request, response);
		}
		catch (IOException unreachable) {
			logger.debug("The denied client could not be answered", unreachable);
		}
		return new ModelAndView();
	}

	private static ModelAndView badRequest(HttpServletResponse response) {
		try {
			response.sendError(HttpServletResponse.SC_BAD_REQUEST);
		}
		catch (IOException unreachable) {
			logger.debug("The client with an invalid request could not be answered", unreachable);
		}
		return new ModelAndView();
	}

}
