package io.github.ratelimit.algorithm;

import java.util.List;
import java.util.Map;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import org.jspecify.annotations.Nullable;

/**
 * Fills a bucket as large as the quota, which drains evenly, the whole quota in a window.
 * A request is allowed if its cost still fits. The state is one number, the time at which
 * the bucket will be empty (the generic cell rate algorithm).
 * <p>
 * <b>Bound:</b> in any period as long as the window, at most twice the quota is admitted:
 * a full bucket at once, and what drains in the meantime. Nothing is denied too early.
 * Times are exact to the microsecond, whatever the rate. Charges may overdraw the bucket,
 * up to twice its size. If the clock is set back, the bucket is at most full.
 * <p>
 * If the quota changes, the bucket stays equally full in relation to its size, and will
 * be empty at the same time as before: a bucket of 10 with 6 in it becomes one of 20 with
 * 12 in it. While the quota is 0, refunds have no effect. In a window in which the quota
 * changes, at most twice the largest quota is admitted.
 * <p>
 * From "Rate Limiting: Leaky Bucket" (2018).
 */
public record LeakyBucket() implements Algorithm {

	@Override
	public String name() {
		return "leaky-bucket";
	}

	@Override
	public String script() {
		return "bucket";
	}

	@Override
	public String code() {
		return "lb";
	}

	@Override
	public long maxQuota() {
		return TokenBucket.MAX_QUOTA;
	}

	@Override
	public Map<String, Number> constants(List<Limit> limits) {
		return Map.of("BURST", 0);
	}

	@Override
	public Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros) {
		return new BucketMeter(limits, state, nowMicros, null);
	}

}
