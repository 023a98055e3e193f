package io.github.ratelimit.algorithm;

import java.util.List;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import io.github.ratelimit.algorithm.SlidingWindowCounter.Rounding;
import org.jspecify.annotations.Nullable;

/**
 * {@code sliding-window-counter} in plain Java; {@code sliding-window-counter.lua} is the
 * same for Redis.
 * <p>
 * State: for each limit the start of the present window, the count of the window before,
 * and the present count.
 */
final class SlidingWindowCounterMeter implements Meter {

	private final List<Limit> limits;

	private final long now;

	private final double weight;

	private final Rounding rounding;

	private final long[] starts;

	private final long[] previous;

	private final long[] current;

	private boolean corrected;

	SlidingWindowCounterMeter(List<Limit> limits, @Nullable MeterState stored, long now, double weight,
			Rounding rounding) {
		long[] state = (stored != null) ? stored.numbers() : null;
		this.limits = limits;
		this.now = now;
		this.weight = weight;
		this.rounding = rounding;
		this.starts = new long[limits.size()];
		this.previous = new long[limits.size()];
		this.current = new long[limits.size()];
		for (int i = 0; i < limits.size(); i++) {
			long window = window(i);
			long start = now - now % window;
			long storedStart = (state != null) ? state[3 * i] : 0;
			this.starts[i] = start;
			if (storedStart == start) {
				this.previous[i] = state(state, 3 * i + 1);
				this.current[i] = state(state, 3 * i + 2);
			}
			else if (storedStart == start - window) {
				this.previous[i] = state(state, 3 * i + 2);
			}
			else if (storedStart > start) {
				// The clock was set back.
				this.previous[i] = state(state, 3 * i + 1);
				this.current[i] = state(state, 3 * i + 2);
				this.corrected = true;
			}
		}
	}

	private static long state(long @Nullable [] state, int k) {
		return (state != null) ? state[k] : 0;
	}

	@Override
	public long retryAfter(int limit, long cost) {
		long room = this.limits.get(limit).quota() - cost;
		long elapsed = this.now - this.starts[limit];
		if (this.current[limit] <= room) {
			long fits = earliest(limit, this.previous[limit], this.current[limit], elapsed, room);
			if (fits < window(limit)) {
				return fits - elapsed;
			}
		}
		// In the next window, where the present count is that of the window before.
		return window(limit) - elapsed + earliest(limit, this.current[limit], 0, 0, room);
	}

	@Override
	public void add(long cost, String metadata) {
		for (int i = 0; i < this.current.length; i++) {
			this.current[i] = Math.min(this.current[i] + cost, Limit.MAX_QUOTA);
		}
	}

	@Override
	public void refund(long cost) {
		for (int i = 0; i < this.current.length; i++) {
			this.current[i] = Math.max(0, this.current[i] - cost);
		}
	}

	@Override
	public long remaining(int limit) {
		double used = used(limit, this.previous[limit], this.current[limit], this.now - this.starts[limit]);
		return Math.max(0, this.limits.get(limit).quota() - (long) Math.ceil(used));
	}

	@Override
	public boolean corrected() {
		return this.corrected;
	}

	@Override
	public long ttl() {
		long ttl = 0;
		for (int i = 0; i < this.current.length; i++) {
			if (this.current[i] > 0) {
				ttl = Math.max(ttl, this.starts[i] + 2 * window(i) - this.now);
			}
			else if (this.previous[i] > 0) {
				ttl = Math.max(ttl, this.starts[i] + window(i) - this.now);
			}
		}
		return ttl;
	}

	@Override
	public MeterState state() {
		long[] state = new long[3 * this.current.length];
		for (int i = 0; i < this.current.length; i++) {
			state[3 * i] = this.starts[i];
			state[3 * i + 1] = this.previous[i];
			state[3 * i + 2] = this.current[i];
		}
		return MeterState.of(state);
	}

	private long window(int limit) {
		return this.limits.get(limit).windowMicros();
	}

	/** What counts as used when some time of the window has elapsed. */
	private double used(int limit, long previous, long current, long elapsed) {
		double estimate = previous * this.weight * (1 - (double) elapsed / window(limit)) + current;
		return this.rounding.round(estimate);
	}

	/**
	 * Earliest time in a window, from some time on, when no more is used than there is
	 * room.
	 */
	private long earliest(int limit, long previous, long current, long from, long room) {
		double full = previous * this.weight;
		if (full == 0) {
			return from;
		}
		// About then, and then exactly.
		double about = window(limit) * (1 - (room - current + this.rounding.slack()) / full);
		long low = (long) Math.max(from, Math.floor(about) - 1);
		long step = 1;
		if (used(limit, previous, current, low) <= room) {
			return low;
		}
		long high = low + step;
		while (high < window(limit) && used(limit, previous, current, high) > room) {
			low = high;
			step = 2 * step;
			high = low + step;
		}
		high = Math.min(high, window(limit));
		while (low + 1 < high) {
			long middle = (low + high) / 2;
			if (used(limit, previous, current, middle) <= room) {
				high = middle;
			}
			else {
				low = middle;
			}
		}
		return high;
	}

}
