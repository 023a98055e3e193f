package io.github.ratelimit.algorithm;

import java.util.List;
import java.util.Map;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import org.jspecify.annotations.Nullable;

/**
 * Hands out tokens. In each window the quota is refilled evenly, up to the burst. It is a
 * {@link LeakyBucket} with a separate size, and its state is the same number.
 * <p>
 * <b>Bound:</b> in any period as long as the window, at most the burst and the quota
 * together are admitted. Nothing is denied too early. Times are exact to the microsecond,
 * whatever the rate. Charges may use as many tokens again as the burst, in advance. If
 * the clock is set back, at most the burst is used up. If requests with several quotas
 * share a bucket with a burst, the bound is that of the largest quota, and requests with
 * a larger quota may be denied too early.
 * <p>
 * With a burst, each request sets the refill rate until the next one, even if it is
 * denied; the number of tokens stays the same. A changed burst starts a fresh count.
 * While the quota is 0, tokens are refilled at the previous rate. Without a burst, the
 * remaining share of the quota stays the same, as in {@link LeakyBucket}.
 * <p>
 * From "Rate Limiting: Leaky Bucket" (2018).
 *
 * @param burst the maximum number of tokens, from 1 to {@link #MAX_QUOTA}; {@code null}
 * for the quota of the limit. A policy with a burst must have exactly one limit
 */
public record TokenBucket(@Nullable Long burst) implements Algorithm {

	/**
	 * Largest quota and burst, 94,906,265: the product of two such numbers is exact in
	 * Redis scripts. For a larger quota, use a shorter window.
	 */
	public static final long MAX_QUOTA = 94_906_265;

	/** Longest time that a full bucket may take to drain. */
	private static final double MAX_DRAINING_MICROS = 3e15;

	public TokenBucket {
		if (burst != null && (burst < 1 || burst > MAX_QUOTA)) {
			throw new IllegalArgumentException(
					"Invalid burst (%s): must be from 1 to %s tokens.".formatted(burst, MAX_QUOTA));
		}
	}

	/** Creates the algorithm with a burst as large as the quota. */
	public TokenBucket() {
		this(null);
	}

	@Override
	public String name() {
		return "token-bucket";
	}

	@Override
	public String script() {
		return "bucket";
	}

	@Override
	public String code() {
		return (this.burst == null) ? "tb" : "tb" + this.burst;
	}

	@Override
	public long maxQuota() {
		return MAX_QUOTA;
	}

	@Override
	public long largestCost(Limit limit) {
		return (this.burst == null || limit.quota() == 0) ? limit.quota() : this.burst;
	}

	/** Divides the burst as well, and further if the share would refill it too slowly. */
	@Override
	public TokenBucket share(int instances, List<Limit> limits) {
		if (this.burst == null) {
			return this;
		}
		Limit limit = limits.get(0);
		long share = Math.max(1, this.burst / instances);
		if (takesTooLong(share, limit)) {
			share = (long) (MAX_DRAINING_MICROS / limit.windowMicros() * limit.quota());
			while (takesTooLong(share, limit)) {
				share--;
			}
		}
		return new TokenBucket(share);
	}

	@Override
	public void requireSupported(List<Limit> limits) {
		if (this.burst == null) {
			return;
		}
		if (limits.size() > 1) {
			throw new IllegalArgumentException(
					"Invalid burst (%s): with a burst, a policy must have one limit, but has %s; use two policies, or remove the burst."
						.formatted(this.burst, limits));
		}
		Limit limit = limits.get(0);
		if (takesTooLong(this.burst, limit)) {
			throw new IllegalArgumentException("Invalid burst (%s): at %s it would take more than 95 years to refill."
				.formatted(this.burst, limit));
		}
	}

	private static boolean takesTooLong(long burst, Limit limit) {
		return limit.quota() > 0 && (double) burst / limit.quota() * limit.windowMicros() > MAX_DRAINING_MICROS;
	}

	@Override
	public Map<String, Number> constants(List<Limit> limits) {
		return Map.of("BURST", (this.burst != null) ? this.burst : 0);
	}

	@Override
	public Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros) {
		return new BucketMeter(limits, state, nowMicros, this.burst);
	}

}
