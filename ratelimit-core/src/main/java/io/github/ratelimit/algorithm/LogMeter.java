package io.github.ratelimit.algorithm;

import java.util.Arrays;
import java.util.List;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import org.jspecify.annotations.Nullable;

/**
 * {@code sliding-log} and {@code sliding-window} in plain Java; {@code log.lua} is the
 * same for Redis.
 * <p>
 * State: entries from the oldest to the newest, each with a time and the running total of
 * all costs up to and including it. What a stretch of the log used is the difference of
 * two totals, so both ends of it are found by bisection, whatever the costs are. The
 * first entry is the base: its total counts, its time does not.
 * <p>
 * With a precision, a request is entered with the end of the sub-window that it is in, so
 * that it counts for a window from then, and requests of one sub-window share an entry.
 */
final class LogMeter implements Meter {

	private final List<Limit> limits;

	private final long now;

	/** Whether requests of the same time share an entry. */
	private final boolean shared;

	/** The time that a request is entered with now. */
	private final long present;

	private final long[] used;

	private long[] log;

	private boolean corrected;

	LogMeter(List<Limit> limits, long @Nullable [] state, long now, long precision) {
		this.limits = limits;
		this.now = now;
		this.shared = precision > 0;
		this.present = this.shared ? now - now % precision + precision : now;
		this.used = new long[limits.size()];
		this.log = (state != null) ? state.clone() : new long[2];
		int last = last();
		if (time(last) > this.present) {
			// The clock was set back: what it says came later than now came now.
			for (int k = firstAfter(this.present); k <= last; k++) {
				this.log[2 * k] = this.present;
			}
			this.corrected = true;
		}
		for (int i = 0; i < limits.size(); i++) {
			this.used[i] = usedAfter(firstAfter(now - limits.get(i).windowMicros()) - 1);
		}
	}

	@Override
	public long retryAfter(int limit, long cost) {
		long room = this.limits.get(limit).quota() - cost;
		if (this.used[limit] <= room) {
			return 0;
		}
		return time(firstWithin(room)) + this.limits.get(limit).windowMicros() - this.now;
	}

	@Override
	public void add(long cost) {
		long largest = this.limits.stream().mapToLong(Limit::quota).max().orElseThrow();
		int base = firstAfter(this.now - longestWindow()) - 1;
		long[] kept = Arrays.copyOfRange(this.log, 2 * base, this.log.length);
		long total = total(last()) + cost;
		if (time(last()) == this.present && last() > base && this.shared) {
			kept = Arrays.copyOf(kept, kept.length - 2);
		}
		this.log = append(kept, this.present, total);
		if (usedAfter(0) > largest) {
			// Denied requests were counted: what is more than the largest quota decides
			// nothing.
			int first = firstWithin(largest);
			this.log = Arrays.copyOfRange(this.log, 2 * first - 2, this.log.length);
			this.log[0] = 0;
			this.log[1] = total - largest;
		}
		for (int i = 0; i < this.used.length; i++) {
			this.used[i] = Math.min(this.used[i] + cost, largest);
		}
	}

	@Override
	public void refund(long cost) {
		long back = Math.min(cost, this.used[this.used.length - 1]);
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
	public boolean corrected() {
		return this.corrected;
	}

	@Override
	public long ttl() {
		return (this.used[this.used.length - 1] > 0) ? time(last()) + longestWindow() - this.now : 0;
	}

	@Override
	public long[] state() {
		return this.log.clone();
	}

	private static long[] append(long[] log, long time, long total) {
		long[] longer = Arrays.copyOf(log, log.length + 2);
		longer[log.length] = time;
		longer[log.length + 1] = total;
		return longer;
	}

	private long longestWindow() {
		return this.limits.get(this.limits.size() - 1).windowMicros();
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

	/** What was used after an entry. */
	private long usedAfter(int k) {
		return total(last()) - total(k);
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
		int low = 0;
		int high = last();
		while (low < high) {
			int middle = (low + high) / 2;
			if (usedAfter(middle) <= cost) {
				high = middle;
			}
			else {
				low = middle + 1;
			}
		}
		return low;
	}

}
