package io.github.ratelimit;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The status of one limit for one identifier after a decision. Times are exact to the
 * microsecond. A value; safe for use by several threads.
 *
 * @param policy the policy that the limit belongs to
 * @param identifier the identifier that was counted
 * @param limit the limit
 * @param remaining what is left now, from 0 to the quota, or to the burst of a
 * {@code token-bucket}
 * @param resetAfter time until more quota arrives; zero if nothing is used
 * @param retryAfter the shortest time after which this limit alone would allow the same
 * cost; zero if it allows it now, {@code null} if it never will because the cost is too
 * large
 * @param violated whether this limit denied the request. If the policy counts denied
 * requests, a limit that had room for the request may be full afterwards. Such a limit is
 * not violated, although it would not allow the same cost now
 */
public record LimitStatus(Policy policy, Identifier identifier, Limit limit, long remaining, Duration resetAfter,
		@Nullable Duration retryAfter, boolean violated) {

	/**
	 * Creates a status from the numbers of a store, in microseconds;
	 * {@code retryAfterMicros} is negative if the limit will never allow the cost.
	 */
	public static LimitStatus ofMicros(Policy policy, Identifier identifier, Limit limit, long remaining,
			long resetAfterMicros, long retryAfterMicros, boolean violated) {
		Duration resetAfter = micros(resetAfterMicros);
		Duration retryAfter = null;
		if (retryAfterMicros >= 0) {
			retryAfter = (retryAfterMicros == resetAfterMicros) ? resetAfter : micros(retryAfterMicros);
		}
		return new LimitStatus(policy, identifier, limit, remaining, resetAfter, retryAfter, violated);
	}

	/**
	 * Returns the limit for people: {@code 10/m}, or {@code 5 concurrent} if the
	 * algorithm counts calls.
	 */
	public String limitText() {
		return this.policy.algorithm().countsCalls() ? this.limit.quota() + " concurrent" : this.limit.toString();
	}

	private static Duration micros(long micros) {
		return (micros == 0) ? Duration.ZERO : Duration.ofSeconds(micros / 1_000_000, micros % 1_000_000 * 1000);
	}

}
