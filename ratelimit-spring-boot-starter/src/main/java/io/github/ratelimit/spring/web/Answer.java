package io.github.ratelimit.spring.web;

import io.github.ratelimit.Decision;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.Rejection.Reason;
import org.jspecify.annotations.Nullable;

/**
 * What a request that may not go on is answered.
 *
 * @param reason why it may not go on
 * @param decision the decision that denied it; {@code null} if there was none
 */
record Answer(Reason reason, @Nullable Decision decision) {

	static final Answer STORE_FAILED = new Answer(Reason.STORE_FAILED, null);

	static final Answer CALLER_DENIED = new Answer(Reason.CALLER_DENIED, null);

	static Answer denied(Decision decision) {
		return new Answer(Reason.DENIED, decision);
	}

	/**
	 * Returns the answer to a request that failed.
	 * @param ex the exception, which may wrap what denied the request
	 * @return the answer; {@code null} if the request was not denied
	 */
	static @Nullable Answer to(Throwable ex) {
		RateLimitExceededException exceeded = Causes.find(RateLimitExceededException.class, ex);
		if (exceeded != null) {
			return denied(exceeded.getDecision());
		}
		if (Causes.find(CallerDeniedException.class, ex) != null) {
			return CALLER_DENIED;
		}
		return (Causes.find(StoreException.class, ex) != null) ? STORE_FAILED : null;
	}

}
