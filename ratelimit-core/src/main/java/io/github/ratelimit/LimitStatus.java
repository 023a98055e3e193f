package io.github.ratelimit;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

import org.jspecify.annotations.Nullable;

/**
 * How one limit stands for one identifier after a decision.
 * <p>
 * Times are exact to the microsecond. A value; safe for use by several threads.
 *
 * @param policy the policy that the limit belongs to
 * @param identifier who was counted
 * @param limit the limit
 * @param remaining what is left now, from 0 to the quota, or to the burst of a
 * {@code token-bucket}
 * @param resetAfter time until more quota arrives; zero if nothing is used
 * @param retryAfter the shortest time after which this limit alone would allow the same
 * cost; zero if it allows it now, {@code null} if it never will, because the cost is more
 * than could ever be left
 * @since 0.1
 */
public record LimitStatus(Policy policy, Identifier identifier, Limit limit, long remaining, Duration resetAfter,
		@Nullable Duration retryAfter) {

	/**
	 * Creates a status from the numbers of a store.
	 * @param policy the policy that the limit belongs to
	 * @param identifier who was counted
	 * @param limit the limit
	 * @param remaining what is left now
	 * @param resetAfterMicros microseconds until more quota arrives
	 * @param retryAfterMicros microseconds until the limit alone would allow the cost;
	 * negative if it never will
	 * @return the status
	 */
	public static LimitStatus ofMicros(Policy policy, Identifier identifier, Limit limit, long remaining,
			long resetAfterMicros, long retryAfterMicros) {
		return new LimitStatus(policy, identifier, limit, remaining, micros(resetAfterMicros),
				(retryAfterMicros < 0) ? null : micros(retryAfterMicros));
	}

	private static Duration micros(long micros) {
		return (micros == 0) ? Duration.ZERO : Duration.of(micros, ChronoUnit.MICROS);
	}

	/**
	 * Returns whether this limit denied the request.
	 * @return whether the limit is violated
	 */
	public boolean violated() {
		return !Duration.ZERO.equals(this.retryAfter);
	}

}
