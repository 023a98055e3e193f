package io.github.ratelimit.algorithm;

import java.util.Arrays;
import java.util.List;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import org.jspecify.annotations.Nullable;

/**
 * {@code sliding-log} in plain Java; {@code sliding-log.lua} is the same for Redis.
 * <p>
 * State: entries from the oldest to the newest, each with the time of a request and the
 * running total of all costs up to and including it. What a stretch of the log used is
 * the difference of two totals, so both ends of it are found by bisection, whatever the
 * costs are. The first entry is the base: its total counts, its request does not.
 */
final class SlidingLogMeter implements Meter {

	private final List<Limit> limits;

	private final long now;

	/** Index of the limit with the longest window, for which the log is kept. */
	private final int longest;

	private final long[] used;

	/** For each limit the time of the oldest request in the window. */
	private final long[] oldest;

	private long[] log;

	private boolean rewound;

	SlidingLogMeter(List<Limit> limits, long @Nullable [] state, long now) {
		this.limits = limits;
		this.now = now;
		this.longest = limits.size() - 1;
		this.used = new long[limits.size()];
		this.oldest = new long[limits.size()];
		this.log = (state != null) ? state.clone() : new long[2];
		int last = last();
		if (time(last) > now) {
			// The clock was set back: what it says came later than now came now.
			for (int k = firstAfter(now); k <= last; k++) {
				this.log[2 * k] = now;
			}
			this.rewound = true;
		}
		for (int i = 0; i < limits.size(); i++) {
			int first = firstAfter(now - limits.get(i).windowMicros());
			this.used[i] = total(last) - total(first - 1);
			this.oldest[i] = (first <= last) ? time(first) : now;
		}
	}

	@Override
	public long retryAfter(int limit, long cost) {
		long room = this.limits.get(limit).quota() - cost;
		if (this.used[limit] <= room) {
			return 0;
		}
		int leaves = firstWithin(room);
		return time(leaves) + this.limits.get(limit).windowMicros() - this.now;
	}

	@Override
	public void add(long cost) {
		int base = firstAfter(this.now - this.limits.get(this.longest).windowMicros()) - 1;
		long total = total(last()) + cost;
		int kept = this.log.length - 2 * base;
		this.log = Arrays.copyOf(Arrays.copyOfRange(this.log, 2 * base, this.log.length), kept + 2);
		this.log[kept] = this.now;
		this.log[kept + 1] = total;
		for (int i = 0; i < this.used.length; i++) {
			if (this.used[i] == 0) {
				this.oldest[i] = this.now;
			}
			this.used[i] += cost;
		}
	}

	@Override
	public void refund(long cost) {
		long back = Math.min(cost, this.used[this.longest]);
		int newest = firstWithin(back);
		long total = total(last()) - back;
		this.log = Arrays.copyOf(this.log, 2 * newest + 2);
		this.log[2 * newest + 1] = total;
		for (int i = 0; i < this.used.length; i++) {
			this.used[i] = Math.max(0, this.used[i] - back);
		}
	}

	@Override
	public long remaining(int limit) {
		return Math.max(0, this.limits.get(limit).quota() - this.used[limit]);
	}

	@Override
	public long resetAfter(int limit) {
		return (this.used[limit] > 0) ? this.oldest[limit] + this.limits.get(limit).windowMicros() - this.now : 0;
	}

	@Override
	public boolean rewound() {
		return this.rewound;
	}

	@Override
	public long ttl() {
		return (this.used[this.longest] > 0) ? time(last()) + this.limits.get(this.longest).windowMicros() - this.now
				: 0;
	}

	@Override
	public long[] state() {
		return this.log.clone();
	}

	private int last() {
		return this.log.length / 2 - 1;
	}

	private long time(int k) {
		return this.log[2 * k];
	}

	private long total(int k) {
		return this.log[2 * k + 1];
	}

	/**
	 * First entry after the base that is later than the time; one past the last if none.
	 */
	private int firstAfter(long time) {
		int low = 1;
		int high = last() + 1;
		while (low < high) {
			int middle = (low + high) / 2;
			if (time(middle) > time) {
				high = middle;
			}
			else {
				low = middle + 1;
			}
		}
		return low;
	}

	/** First entry, the base included, after which no more than the cost was used. */
	private int firstWithin(long cost) {
		long total = total(last());
		int low = 0;
		int high = last();
		while (low < high) {
			int middle = (low + high) / 2;
			if (total - total(middle) <= cost) {
				high = middle;
			}
			else {
				low = middle + 1;
			}
		}
		return low;
	}

}
