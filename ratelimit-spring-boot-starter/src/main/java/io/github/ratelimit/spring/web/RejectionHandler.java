package io.github.ratelimit.spring.web;

import java.io.IOException;

import io.github.ratelimit.Decision;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import tools.jackson.databind.json.JsonMapper;

/**
 * Answers requests that may not go on, because their path or a method that they call is
 * limited. A bean of this type replaces the standard answers.
 * <p>
 * The headers of {@link LimitHeaders} are written already, and so are those that let a
 * browser on another origin read the response. Implementations are safe for use by
 * several threads.
 *
 * @since 0.1
 */
public interface RejectionHandler {

	/**
	 * Answers a request that was denied.
	 * @param decision the decision, with the violated limits and the time to wait
	 * @param request the request
	 * @param response the response, which is not committed, but may hold what a handler
	 * has begun to write
	 * @throws IOException if the client cannot be reached
	 */
	void reject(Decision decision, HttpServletRequest request, HttpServletResponse response) throws IOException;

	/**
	 * Answers a request about which no decision could be made, because the store failed,
	 * and that is denied then. The standard answer is status 503 with
	 * {@code Retry-After: 1}, and a problem body (RFC 9457) of the type
	 * {@code temporary-reduced-capacity}.
	 * @param request the request
	 * @param response the response, which is not committed, but may hold what a handler
	 * has begun to write
	 * @throws IOException if the client cannot be reached
	 */
	default void rejectWithoutDecision(HttpServletRequest request, HttpServletResponse response) throws IOException {
		ProblemBody.writeReducedCapacity(response);
	}

	/**
	 * Answers a request that is denied because of who makes it, whatever its limits say.
	 * The standard answer is status 403 with a problem body (RFC 9457), and nothing about
	 * waiting, which does not help.
	 * @param request the request
	 * @param response the response, which is not committed, but may hold what a handler
	 * has begun to write
	 * @throws IOException if the client cannot be reached
	 */
	default void forbid(HttpServletRequest request, HttpServletResponse response) throws IOException {
		ProblemBody.writeForbidden(response);
	}

	/**
	 * Returns what writes the standard answers: for denied requests status 429, with
	 * {@code Retry-After} unless waiting does not help, and a problem body (RFC 9457) of
	 * the type {@code quota-exceeded}, or {@code abnormal-usage-detected} for a block.
	 * @param jsonMapper writes the body
	 * @return a new handler
	 */
	static RejectionHandler problems(JsonMapper jsonMapper) {
		return new Rejection(jsonMapper);
	}

}
