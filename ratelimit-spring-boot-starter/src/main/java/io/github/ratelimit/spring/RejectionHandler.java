package io.github.ratelimit.spring;

import java.io.IOException;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

/**
 * Changes the answer to rejected requests, of paths and annotated methods alike. Declare
 * a bean of this type.
 * <p>
 * When a handler is called, the response already has its status, {@code Retry-After}
 * unless waiting does not help, the rate limit headers, and the CORS headers that a
 * browser needs to read it. The body is written after the handler returns: the problem of
 * the {@link Rejection} as {@code application/problem+json}, which the handler may
 * modify. A handler that writes its own body, sends an error or redirects replaces it. If
 * the handler does nothing or throws an exception, the answer stays as it was, with its
 * headers; the first failure of each type is logged. An {@link java.io.IOException} is
 * thrown on if the answer is on its way, because the connection may be broken.
 * <p>
 * Implementations must be safe for use by several threads.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface RejectionHandler {

	/**
	 * Changes the answer.
	 * @param rejection why the request is rejected, and the body that is written unless
	 * the handler writes one. If the handler changes the status of the response or of the
	 * problem, the other one follows
	 * @param request the request
	 * @param response the response, not yet committed
	 * @throws IOException if the response cannot be written
	 */
	void handle(Rejection rejection, HttpServletRequest request, HttpServletResponse response) throws IOException;

}
