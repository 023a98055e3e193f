package io.github.ratelimit.spring;

import io.github.ratelimit.Decision;
import org.jspecify.annotations.Nullable;

import org.springframework.http.ProblemDetail;

/**
 * Why a web request may not go on, and what it is answered unless a
 * {@link RejectionHandler} changes that.
 *
 * @param reason why
 * @param decision the decision, with the violated limits and the time to wait;
 * {@code null} if there was none, because the store failed or the caller is denied
 * whatever its limits say
 * @param problem the body of the response (RFC 9457), which may be changed
 * @since 0.1
 */
public record Rejection(Reason reason, @Nullable Decision decision, ProblemDetail problem) {

	/**
	 * Why a request may not go on.
	 */
	public enum Reason {

		/**
		 * A limit, or a block, has denied it.
		 */
		DENIED,

		/**
		 * The store failed, and one of the policies denies requests then.
		 */
		STORE_FAILED,

		/**
		 * It is denied because of who makes it: the caller is on the list of those that
		 * are denied, or lacks an identifier that a policy insists on.
		 */
		CALLER_DENIED

	}

}
