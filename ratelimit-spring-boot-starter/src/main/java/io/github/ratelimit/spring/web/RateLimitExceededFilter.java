package io.github.ratelimit.spring.web;

import java.io.IOException;

import io.github.ratelimit.spring.RateLimitedExpressionException;
import io.github.ratelimit.spring.policy.PolicyDecisions;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NamedThreadLocal;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * Lets filters and servlets call methods with {@code @RateLimited}. Provides the request
 * of such calls, also before Spring's own filter provides it, and answers the request if
 * a call is denied or its arguments make no valid cost or identifier, as
 * {@link RateLimitExceededResolver} does for handlers.
 * <p>
 * Safe for use by several threads.
 */
final class RateLimitExceededFilter implements Filter {

	private static final ThreadLocal<@Nullable ServletRequestAttributes> current = new NamedThreadLocal<>(
			"Request of the rate limiter");

	private final LimitedResponses responses;

	private final PolicyDecisions decisions;

	/**
	 * Creates a filter.
	 * @param responses answers denied requests
	 * @param decisions settles the costs of requests
	 */
	RateLimitExceededFilter(LimitedResponses responses, PolicyDecisions decisions) {
		this.responses = responses;
		this.decisions = decisions;
	}

	/**
	 * Returns the request of the current thread: that of Spring, or else that of the
	 * innermost of these filters; {@code null} if there is none.
	 */
	static @Nullable ServletRequestAttributes currentRequest() {
		return (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes known) ? known
				: current.get();
	}

	/**
	 * Returns whether the current thread serves a request. Other threads may have the
	 * request of Spring as well, even after its end.
	 */
	static boolean isServing(RequestState state) {
		ServletRequestAttributes served = current.get();
		return served != null && RequestState.find(served.getRequest()) == state;
	}

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		if (request instanceof HttpServletRequest httpRequest && response instanceof HttpServletResponse httpResponse) {
			doFilter(httpRequest, httpResponse, chain);
		}
		else {
			chain.doFilter(request, response);
		}
	}

	private void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		writeDecisionsOfOtherThreads(request, response);
		try {
			doFilterAsCurrent(request, response, chain);
			RequestState state = RequestState.find(request);
			if (state != null) {
				// If the request ends soon, Tomcat reports that only to listeners that
				// exist by now.
				state.awaitEnd(request, this.decisions);
			}
		}
		catch (IOException | ServletException | RuntimeException ex) {
			if (!response.isCommitted() && Answer.find(RateLimitedExpressionException.class, ex) != null) {
				response.sendError(HttpServletResponse.SC_BAD_REQUEST);
				return;
			}
			Answer answer = Answer.to(ex);
			if (answer == null || response.isCommitted()) {
				RequestState state = RequestState.find(request);
				if (state != null) {
					state.fail();
				}
				throw ex;
			}
			this.responses.answer(answer, request, response);
		}
	}

	/** Other threads may decide between dispatches, but must not touch the response. */
	private void writeDecisionsOfOtherThreads(HttpServletRequest request, HttpServletResponse response) {
		RequestState state = (request.getDispatcherType() == DispatcherType.ASYNC) ? RequestState.find(request) : null;
		if (state != null && !state.statuses().isWritten()) {
			this.responses.writeHeaders(state.statuses(), response);
		}
	}

	private static void doFilterAsCurrent(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		ServletRequestAttributes outer = current.get();
		current.set(new ServletRequestAttributes(request, response));
		try {
			chain.doFilter(request, response);
		}
		finally {
			if (outer != null) {
				current.set(outer);
			}
			else {
				current.remove();
			}
		}
	}

}
