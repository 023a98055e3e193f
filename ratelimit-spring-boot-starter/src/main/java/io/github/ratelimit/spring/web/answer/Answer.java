package io.github.ratelimit.spring.web.answer;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.github.ratelimit.Decision;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.OutgoingCallDeniedException;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.RateLimitedExpressionException;
import io.github.ratelimit.spring.Rejection.Reason;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a rejected request, message or GraphQL field.
 *
 * @param reason why it is rejected; {@code null} if the arguments of a limited method
 * made no valid cost or identifier
 * @param decision the decision that denied it; {@code null} if there was none
 * @param outgoing which call to another service was denied, and how long to wait;
 * {@code null} if there was none
 */
public record Answer(@Nullable Reason reason, @Nullable Decision decision, @Nullable String outgoing) {

	/** Causes may be a cycle. */
	private static final int LONGEST_CHAIN = 50;

	/** Creates an answer that is not because of a call to another service. */
	public Answer(@Nullable Reason reason, @Nullable Decision decision) {
		this(reason, decision, null);
	}

	/**
	 * Returns the answer to a request that failed.
	 * @param ex the exception, which may wrap the one that rejected the request
	 * @return the answer; {@code null} if the request was not rejected
	 */
	public static @Nullable Answer to(Throwable ex) {
		Answer answer = null;
		Throwable cause = ex;
		for (int i = 0; answer == null && cause != null && i < LONGEST_CHAIN; i++) {
			answer = of(cause);
			cause = cause.getCause();
		}
		return answer;
	}

	private static @Nullable Answer of(Throwable ex) {
		if (ex instanceof RateLimitExceededException exceeded) {
			return (ex instanceof OutgoingCallDeniedException)
					? new Answer(Reason.OUTGOING_DENIED, exceeded.getDecision(), ex.getMessage())
					: new Answer(Reason.DENIED, exceeded.getDecision());
		}
		if (ex instanceof CallerDeniedException) {
			return new Answer(Reason.CALLER_DENIED, null);
		}
		if (ex instanceof StoreException) {
			return new Answer(Reason.STORE_FAILED, null);
		}
		return (ex instanceof RateLimitedExpressionException) ? new Answer(null, null) : null;
	}

	/**
	 * Returns the whole seconds after which to try again, at least 1; {@code null} if
	 * they are unknown. A store that failed may answer again at any time. The decision
	 * has the longest time of its limits and blocks, which algorithms have computed.
	 */
	public @Nullable Long retryAfter() {
		Duration time = (this.decision != null) ? this.decision.retryAfter().orElse(null) : null;
		if (time != null) {
			return Math.max(1, StatusHeaders.seconds(time));
		}
		return (this.reason == Reason.STORE_FAILED) ? 1L : null;
	}

	/** Returns the names of the limits that denied the request. */
	List<String> violated() {
		return (this.decision != null)
				? this.decision.violated().stream().map(RequestStatuses::name).distinct().toList() : List.of();
	}

	/** Returns what to tell clients that get no status. */
	public String code() {
		return (this.reason == null) ? "BAD_REQUEST" : switch (this.reason) {
			case DENIED -> "TOO_MANY_REQUESTS";
			case CALLER_DENIED -> "FORBIDDEN";
			case OUTGOING_DENIED, STORE_FAILED -> "SERVICE_UNAVAILABLE";
		};
	}

	/** Returns the same as {@link #code()} in words. */
	public String message() {
		return (this.reason == null) ? "Invalid arguments" : switch (this.reason) {
			case DENIED -> "Rate limit exceeded";
			case CALLER_DENIED -> "Forbidden";
			case OUTGOING_DENIED, STORE_FAILED -> "Temporarily unavailable";
		};
	}

	/**
	 * Returns {@code retryAfter} and {@code violatedPolicies}, if they are known, in a
	 * new map.
	 */
	public Map<String, Object> details() {
		Map<String, Object> details = new TreeMap<>();
		Long seconds = retryAfter();
		if (seconds != null) {
			details.put("retryAfter", seconds);
		}
		if (this.reason == Reason.DENIED) {
			details.put("violatedPolicies", violated());
		}
		return details;
	}

}
