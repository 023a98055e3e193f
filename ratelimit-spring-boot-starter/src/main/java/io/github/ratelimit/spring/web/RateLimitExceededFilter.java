package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.ratelimit.spring.decide.CarriedCaller;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.web.answer.Answer;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NamedThreadLocal;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * Lets filters and servlets call methods with {@code @RateLimited}: provides the request
 * before Spring's own filter does, answers it if a call is rejected, as
 * {@link RateLimitExceededResolver} does for handlers, and settles what it has used.
 * <p>
 * Safe for use by several threads.
 */
final class RateLimitExceededFilter extends HttpFilter {

	private static final ThreadLocal<@Nullable ServletRequestAttributes> current = new NamedThreadLocal<>(
			"Request of the rate limiter");

	private final LimitedResponses responses;

	private final Decider decider;

	private final Function<HttpServletRequest, CarriedCaller> capture;

	/**
	 * Creates a filter.
	 * @param capture reads the caller of a request, for other threads
	 */
	RateLimitExceededFilter(LimitedResponses responses, Decider decider,
			Function<HttpServletRequest, CarriedCaller> capture) {
		this.responses = responses;
		this.decider = decider;
		this.capture = capture;
	}

	/**
	 * Returns the request of the current thread: that of Spring, or else that of the
	 * innermost of these filters; {@code null} if there is none. Other threads may have
	 * that of Spring after its end, when the container may reuse the object.
	 */
	static @Nullable ServletRequestAttributes currentRequest() {
		ServletRequestAttributes served = current.get();
		return (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes known
				&& (served != null || isActive(known))) ? known : served;
	}

	private static boolean isActive(ServletRequestAttributes attributes) {
		try {
			attributes.getAttribute(RateLimitExceededFilter.class.getName(), RequestAttributes.SCOPE_REQUEST);
			return true;
		}
		catch (IllegalStateException ex) {
			return false;
		}
	}

	/** Returns whether the current thread serves a request. */
	static boolean isServing(RequestState state) {
		ServletRequestAttributes served = current.get();
		return served != null && RequestState.find(served.getRequest()) == state;
	}

	@Override
	protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		if (request.getDispatcherType() == DispatcherType.FORWARD && current.get() != null) {
			chain.doFilter(request, response);
			return;
		}
		writeDecisionsOfOtherThreads(request, response);
		boolean failed = true;
		try {
			doFilterAsCurrent(request, response, chain);
			failed = false;
		}
		catch (IOException | ServletException | RuntimeException ex) {
			Answer answer = Answer.to(ex);
			if (answer == null || (response.isCommitted() && !LimitedResponses.isError(response))) {
				throw ex;
			}
			if (!response.isCommitted()) {
				this.responses.answer(answer, request, response);
			}
			failed = false;
		}
		finally {
			RequestState state = RequestState.find(request);
			if (state != null) {
				if (failed) {
					state.costs().fail();
				}
				state.endDispatch(request, this.decider);
			}
		}
	}

	/** Other threads may decide between dispatches, but must not touch the response. */
	private void writeDecisionsOfOtherThreads(HttpServletRequest request, HttpServletResponse response) {
		RequestState state = (request.getDispatcherType() == DispatcherType.ASYNC) ? RequestState.find(request) : null;
		if (state != null && !state.statuses().isWritten()) {
			state.statuses().write(this.responses.headers(), response);
		}
	}

	private void doFilterAsCurrent(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		ServletRequestAttributes outer = current.get();
		current.set(new ServletRequestAttributes(request, response));
		Supplier<? extends @Nullable CarriedCaller> outerCaller = CarriedCaller.exchange(this::captureCurrent);
		if (outer == null) {
			serve(request, Thread.currentThread());
		}
		try {
			chain.doFilter(request, response);
		}
		finally {
			CarriedCaller.exchange(outerCaller);
			if (outer != null) {
				current.set(outer);
			}
			else {
				current.remove();
				serve(request, null);
			}
		}
	}

	/** Filters inside this one may have replaced the request by one that has the user. */
	private @Nullable CarriedCaller captureCurrent() {
		ServletRequestAttributes served = currentRequest();
		return (served != null) ? this.capture.apply(served.getRequest()) : null;
	}

	private static void serve(HttpServletRequest request, @Nullable Thread thread) {
		RequestState state = RequestState.find(request);
		if (state != null) {
			state.serve(thread);
		}
	}

}
