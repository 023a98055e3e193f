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
 * @param violated whether this limit denied the request. If the policy counts denied
 * requests, a limit that had room for the request may be full afterwards: it is not
 * violated, although it would not allow the same cost now
 * @since 0.1
 */
public record LimitStatus(Policy policy, Identifier identifier, Limit limit, long remaining, Duration resetAfter,
		@Nullable Duration retryAfter, boolean violated) {

	/**
	 * Creates the status of a limit that is violated if it does not allow the cost now.
	 * @param policy the policy that the limit belongs to
	 * @param identifier who was counted
	 * @param limit the limit
	 * @param remaining what is left now
	 * @param resetAfter time until more quota arrives
	 * @param retryAfter time until the limit alone would allow the cost; {@code null} if
	 * it never will
	 */
	public LimitStatus(Policy policy, Identifier identifier, Limit limit, long remaining, Duration resetAfter,
			@Nullable Duration retryAfter) {
		this(policy, identifier, limit, remaining, resetAfter, retryAfter, !Duration.ZERO.equals(retryAfter));
	}

	/**
	 * Creates a status from the numbers of a store, of a limit that is violated if it
	 * does not allow the cost now.
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
		return ofMicros(policy, identifier, limit, remaining, resetAfterMicros, retryAfterMicros,
				retryAfterMicros != 0);
	}

	/**
	 * Creates a status from the numbers of a store.
	 * @param policy the policy that the limit belongs to
	 * @param identifier who was counted
	 * @param limit the limit
	 * @param remaining what is left now
	 * @param resetAfterMicros microseconds until more quota arrives
	 * @param retryAfterMicros microseconds until the limit alone would allow the cost;
	 * negative if it never will
	 * @param violated whether the limit denied the request
	 * @return the status
	 */
	public static LimitStatus ofMicros(Policy policy, Identifier identifier, Limit limit, long remaining,
			long resetAfterMicros, long retryAfterMicros, boolean violated) {
		return new LimitStatus(policy, identifier, limit, remaining, micros(resetAfterMicros),
				(retryAfterMicros < 0) ? null : micros(retryAfterMicros), violated);
	}

	private static Duration micros(long micros) {
		return (micros == 0) ? Duration.ZERO : Duration.of(micros, ChronoUnit.MICROS);
	}

}
