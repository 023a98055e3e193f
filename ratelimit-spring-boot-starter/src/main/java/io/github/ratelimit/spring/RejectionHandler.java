package io.github.ratelimit.spring;

import java.io.IOException;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

/**
 * Changes the answer to rejected requests, of paths and annotated methods alike. Declare
 * a bean of this type.
 * <p>
 * When a handler is called, the response already has its status, {@code Retry-After}
 * unless waiting does not help, the rate limit headers, and the CORS headers. After it
 * returns, the problem of the {@link Rejection}, which it may modify, is written as
 * {@code application/problem+json}, unless the handler has written its own body, sent an
 * error or redirected. If it throws an exception, the answer stays as it was; the first
 * failure of each type is logged. An {@link IOException} is thrown on if the answer is on
 * its way, because the connection may be broken.
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
