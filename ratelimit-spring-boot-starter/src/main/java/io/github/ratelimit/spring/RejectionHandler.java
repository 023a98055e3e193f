package io.github.ratelimit.spring;

import java.io.IOException;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

/**
 * Changes how requests are answered that may not go on, because their path or a method
 * that they call is limited. Declare a bean of this type.
 * <p>
 * The response is ready when a handler gets it: with its status, {@code Retry-After}
 * unless waiting does not help, the headers of the limits, and those that let a browser
 * on another origin read it. The body is written after the handler: the problem of the
 * {@link Rejection} as {@code application/problem+json}, which the handler may change. A
 * handler that writes a body of its own, sends an error or a redirect replaces it. One
 * that does nothing leaves the answer as it is, and so does one that fails, which the log
 * says once.
 * <p>
 * Implementations are safe for use by several threads.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface RejectionHandler {

	/**
	 * Changes the answer.
	 * @param rejection why the request may not go on, and the body that is written unless
	 * the handler writes one. If the handler changes the status of the response, or of
	 * the problem, the other one follows
	 * @param request the request
	 * @param response the response, which is not committed
	 * @throws IOException if the client cannot be reached
	 */
	void handle(Rejection rejection, HttpServletRequest request, HttpServletResponse response) throws IOException;

}
