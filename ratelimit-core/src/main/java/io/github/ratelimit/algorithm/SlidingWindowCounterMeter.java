package io.github.ratelimit.algorithm;

import java.math.BigInteger;
import java.util.List;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import org.jspecify.annotations.Nullable;

/**
 * {@code sliding-window-counter} in plain Java; {@code sliding-window-counter.lua} is the
 * same for Redis.
 * <p>
 * State: for each limit the start of the current window, the count of the previous
 * window, and the current count. The weighted count of the previous window, its tail, is
 * rounded once. Costs and quotas are whole numbers, so an estimate without rounding
 * denies the same requests as one that is rounded up.
 */
final class SlidingWindowCounterMeter extends MeterBase implements Meter {

	/** The full weight of a window. */
	static final long UNIT = 1_000_000;

	/** Weight of the previous window, in millionths. */
	private final long weight;

	private final boolean roundsDown;

	private final long[] windows;

	private final long[] tails;

	SlidingWindowCounterMeter(List<Limit> limits, @Nullable MeterState stored, long now, long weight,
			boolean roundsDown) {
		super(limits, now);
		this.weight = weight;
		this.roundsDown = roundsDown;
		this.windows = (stored != null) ? stored.numbers().clone() : new long[3 * limits.size()];
		this.tails = new long[limits.size()];
		for (int i = 0; i < limits.size(); i++) {
			long window = window(i);
			long start = now - now % window;
			if (start(i) < start) {
				this.windows[3 * i + 1] = (start(i) == start - window) ? current(i) : 0;
				this.windows[3 * i + 2] = 0;
			}
			// The clock was set back.
			this.corrected |= start(i) > start;
			this.windows[3 * i] = start;
			this.tails[i] = tail(previous(i), start + window - now, window);
		}
	}

	@Override
	public long retryAfter(int limit, long cost) {
		long room = quota(limit) - cost;
		if (room - current(limit) >= this.tails[limit]) {
			return 0;
		}
		long window = window(limit);
		long left = start(limit) + window - this.now;
		if (current(limit) <= room) {
			long fits = longest(previous(limit), room - current(limit), window);
			if (fits > 0) {
				return left - fits;
			}
		}
		// In the next window, where the current count is the previous one.
		return left + window - longest(current(limit), room, window);
	}

	@Override
	public void add(long cost, String metadata) {
		for (int i = 0; i < this.tails.length; i++) {
			this.windows[3 * i + 2] = Math.min(current(i) + cost, Limit.MAX_QUOTA);
		}
	}

	@Override
	public void refund(long cost) {
		for (int i = 0; i < this.tails.length; i++) {
			this.windows[3 * i + 2] = Math.max(0, current(i) - cost);
		}
	}

	@Override
	public long remaining(int limit) {
		return Math.max(0, quota(limit) - current(limit) - this.tails[limit]);
	}

	@Override
	public long ttl() {
		long ttl = 0;
		for (int i = 0; i < this.tails.length; i++) {
			if (current(i) > 0 || previous(i) > 0) {
				ttl = Math.max(ttl, start(i) + ((current(i) > 0) ? 2 : 1) * window(i) - this.now);
			}
		}
		return ttl;
	}

	@Override
	public MeterState state() {
		return MeterState.of(this.windows);
	}

	private long start(int limit) {
		return this.windows[3 * limit];
	}

	private long previous(int limit) {
		return this.windows[3 * limit + 1];
	}

	private long current(int limit) {
		return this.windows[3 * limit + 2];
	}

	/**
	 * Returns the weighted count of a window, given the time left of the next one:
	 * {@code count * weight * left / (UNIT * window)}, exactly.
	 */
	private long tail(long count, long left, long window) {
		BigInteger[] tail = product(count, this.weight).multiply(BigInteger.valueOf(left))
			.divideAndRemainder(product(UNIT, window));
		return tail[0].longValueExact() + ((this.roundsDown || tail[1].signum() == 0) ? 0 : 1);
	}

	/**
	 * Returns the longest time left of a window at which the weighted count of the
	 * previous window still fits into the room.
	 */
	private long longest(long count, long room, long window) {
		if (count == 0 || this.weight == 0) {
			return window;
		}
		// Rounded down, everything below one more fits.
		BigInteger unit = product(UNIT, window);
		BigInteger fits = this.roundsDown ? unit.multiply(BigInteger.valueOf(room + 1)).subtract(BigInteger.ONE)
				: unit.multiply(BigInteger.valueOf(room));
		return fits.divide(product(count, this.weight)).min(BigInteger.valueOf(window)).longValueExact();
	}

}
