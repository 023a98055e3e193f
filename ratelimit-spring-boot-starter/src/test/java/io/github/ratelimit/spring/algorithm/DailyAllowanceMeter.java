package io.github.ratelimit.spring.algorithm;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import org.jspecify.annotations.Nullable;

/**
 * {@link DailyAllowance} in plain Java; {@code daily-allowance.lua} is the same for
 * Redis.
 */
final class DailyAllowanceMeter implements Meter {

	private final Limit limit;

	private final long now;

	/** End of the day. */
	private final long finish;

	private long count;

	private boolean corrected;

	DailyAllowanceMeter(Limit limit, @Nullable MeterState state, long now, long start) {
		this.limit = limit;
		this.now = now;
		this.finish = now - Math.floorMod(now - start, limit.windowMicros()) + limit.windowMicros();
		if (state != null && state.numbers()[0] > now) {
			// If that is later than today, the clock was set back.
			this.corrected = state.numbers()[0] > this.finish;
			this.count = state.numbers()[1];
		}
	}

	@Override
	public long retryAfter(int limit, long cost) {
		return (this.limit.quota() - this.count < cost) ? this.finish - this.now : 0;
	}

	@Override
	public void add(long cost, String metadata) {
		this.count = Math.min(this.count + cost, Limit.MAX_QUOTA);
	}

	@Override
	public void refund(long cost) {
		this.count = Math.max(0, this.count - cost);
	}

	@Override
	public long remaining(int limit) {
		return Math.max(0, this.limit.quota() - this.count);
	}

	@Override
	public boolean corrected() {
		return this.corrected;
	}

	@Override
	public long ttl() {
		return (this.count > 0) ? this.finish - this.now : 0;
	}

	@Override
	public MeterState state() {
		return MeterState.of(this.finish, this.count);
	}

}
