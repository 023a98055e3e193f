package io.github.ratelimit.algorithm;

import java.util.List;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import org.jspecify.annotations.Nullable;

/**
 * {@code fixed-window} in plain Java; {@code fixed-window.lua} is the same for Redis.
 * <p>
 * State: for each limit the end of the window and the count in it.
 */
final class FixedWindowMeter implements Meter {

	private final List<Limit> limits;

	private final long now;

	private final long[] ends;

	private final long[] counts;

	private boolean rewound;

	FixedWindowMeter(List<Limit> limits, long @Nullable [] state, long now) {
		this.limits = limits;
		this.now = now;
		this.ends = new long[limits.size()];
		this.counts = new long[limits.size()];
		for (int i = 0; i < limits.size(); i++) {
			long window = limits.get(i).windowMicros();
			long end = (state != null) ? state[2 * i] : 0;
			long count = (state != null) ? state[2 * i + 1] : 0;
			if (count == 0 || end <= now) {
				count = 0;
				end = now - now % window + window;
			}
			else if (end > now + window) {
				// The clock was set back: the count lasts one window, not until the
				// clock has caught up.
				end = now + window;
				this.rewound = true;
			}
			this.ends[i] = end;
			this.counts[i] = count;
		}
	}

	@Override
	public long retryAfter(int limit, long cost) {
		return (this.limits.get(limit).quota() - this.counts[limit] >= cost) ? 0 : this.ends[limit] - this.now;
	}

	@Override
	public void add(long cost) {
		for (int i = 0; i < this.counts.length; i++) {
			this.counts[i] += cost;
		}
	}

	@Override
	public void refund(long cost) {
		for (int i = 0; i < this.counts.length; i++) {
			this.counts[i] = Math.max(0, this.counts[i] - cost);
		}
	}

	@Override
	public long remaining(int limit) {
		return Math.max(0, this.limits.get(limit).quota() - this.counts[limit]);
	}

	@Override
	public long resetAfter(int limit) {
		return (this.counts[limit] > 0) ? this.ends[limit] - this.now : 0;
	}

	@Override
	public boolean rewound() {
		return this.rewound;
	}

	@Override
	public long ttl() {
		long ttl = 0;
		for (int i = 0; i < this.counts.length; i++) {
			ttl = Math.max(ttl, resetAfter(i));
		}
		return ttl;
	}

	@Override
	public long[] state() {
		long[] state = new long[2 * this.counts.length];
		for (int i = 0; i < this.counts.length; i++) {
			state[2 * i] = this.ends[i];
			state[2 * i + 1] = this.counts[i];
		}
		return state;
	}

}
