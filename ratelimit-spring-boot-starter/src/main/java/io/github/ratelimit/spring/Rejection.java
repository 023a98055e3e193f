package io.github.ratelimit.spring;

import io.github.ratelimit.Decision;
import org.jspecify.annotations.Nullable;

import org.springframework.http.ProblemDetail;

/**
 * A rejected web request: the reason, and the answer unless a {@link RejectionHandler}
 * changes it.
 *
 * @param reason the reason
 * @param decision the decision, with the violated limits and the time to wait;
 * {@code null} if there is none, because the store failed or the caller is denied
 * regardless of its limits
 * @param problem the body of the response (RFC 9457); may be modified
 * @since 0.1
 */
public record Rejection(Reason reason, @Nullable Decision decision, ProblemDetail problem) {

	/** Why a request is rejected. */
	public enum Reason {

		/** A limit or a block denied it. */
		DENIED,

		/** The store failed, and one of the policies denies requests while it fails. */
		STORE_FAILED,

		/** A call to another service was denied that is needed to serve the request. */
		OUTGOING_DENIED,

		/** The caller is on the deny list, or lacks a required identifier. */
		CALLER_DENIED

	}

}
