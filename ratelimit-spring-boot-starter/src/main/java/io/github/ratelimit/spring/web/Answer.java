package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.Decision;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.Rejection.Reason;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a rejected request.
 *
 * @param reason why it is rejected
 * @param decision the decision that denied it; {@code null} if there was none
 */
record Answer(Reason reason, @Nullable Decision decision) {

	private static final int LONGEST_CHAIN = 50;

	static final Answer STORE_FAILED = new Answer(Reason.STORE_FAILED, null);

	static final Answer CALLER_DENIED = new Answer(Reason.CALLER_DENIED, null);

	static Answer denied(Decision decision) {
		return new Answer(Reason.DENIED, decision);
	}

	/**
	 * Returns the answer to a request that failed.
	 * @param ex the exception, which may wrap the one that rejected the request
	 * @return the answer; {@code null} if the request was not rejected
	 */
	static @Nullable Answer to(Throwable ex) {
		RateLimitExceededException exceeded = find(RateLimitExceededException.class, ex);
		if (exceeded != null) {
			return denied(exceeded.getDecision());
		}
		if (find(CallerDeniedException.class, ex) != null) {
			return CALLER_DENIED;
		}
		return (find(StoreException.class, ex) != null) ? STORE_FAILED : null;
	}

	/** Returns the first exception of a type in a chain of causes. */
	static <T extends Throwable> @Nullable T find(Class<T> type, Throwable ex) {
		return chain(ex).stream().filter(type::isInstance).map(type::cast).findFirst().orElse(null);
	}

	/** Returns an exception and its causes, which may be a cycle. */
	static List<Throwable> chain(Throwable ex) {
		List<Throwable> chain = new ArrayList<>();
		for (Throwable cause = ex; cause != null && chain.size() < LONGEST_CHAIN; cause = cause.getCause()) {
			chain.add(cause);
		}
		return chain;
	}

}
