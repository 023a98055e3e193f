package io.github.ratelimit.algorithm;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.Limit;
import io.github.ratelimit.LogEntry;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import org.jspecify.annotations.Nullable;

/**
 * {@code sliding-log} and {@code sliding-window} in plain Java; {@code log.lua} is the
 * same for Redis. There each entry that is read costs much, so the script also remembers
 * what it has read of the oldest entry in each window.
 * <p>
 * State: a {@link Log}. With a precision, a request is entered with the end of the
 * sub-window that it is in, so that it counts for a window from then, and requests of one
 * sub-window share an entry. With a capacity, requests are entered with their times, and
 * whenever there are more entries than that, those of one sub-window become one, which
 * has the time of the newest. To merge an entry with the one after it is to leave it out,
 * because totals run on.
 */
final class LogMeter implements Meter {

	/** Into how many sub-windows a window is divided when entries are merged. */
	private static final int SUB_WINDOWS = 60;

	/** From how many bytes on a state is read and written in pieces. */
	private static final int LARGE_BYTES = 16_384;

	private final List<Limit> limits;

	private final long now;

	/** How many entries there may be; 0 for as many as there are requests. */
	private final int capacity;

	/** Whether requests of the same time share an entry. */
	private final boolean shared;

	/** The time that a request is entered with now. */
	private final long present;

	private final Log log;

	private final long[] used;

	/** Last entry that has left the longest window. */
	private int base;

	private boolean corrected;

	LogMeter(List<Limit> limits, @Nullable MeterState state, long now, long precision, int capacity, boolean metadata) {
		this.limits = limits;
		this.now = now;
		this.capacity = capacity;
		this.shared = precision > 0 || capacity > 0;
		this.present = (precision > 0) ? now - now % precision + precision : now;
		this.log = new Log(state, metadata);
		this.used = new long[limits.size()];
		if (this.log.time(this.log.last()) > this.present) {
			// The clock was set back: what it says came later than now came now.
			this.log.setTimesFrom(this.log.first(1, (k) -> this.log.time(k) > this.present), this.present);
			this.corrected = true;
		}
		for (int i = 0; i < limits.size(); i++) {
			long start = now - limits.get(i).windowMicros();
			this.base = this.log.first(1, (k) -> this.log.time(k) > start) - 1;
			this.used[i] = this.log.usedAfter(this.base);
		}
	}

	/**
	 * The constants of the script.
	 * @param width bytes of an entry
	 * @param most how many entries there may be by the quotas, besides the base
	 */
	static Map<String, Number> constants(int width, long precision, int capacity, boolean metadata, long most) {
		boolean isShared = precision > 0 || capacity > 0;
		return Map.of("WIDTH", width, "TOTALS", isShared ? 1L << 40 : 1L << 24, "METADATA", metadata ? 1 : 0, "SHARED",
				isShared ? 1 : 0, "PRECISION", precision, "CAPACITY", capacity, "PIECES",
				(4 + width * (most + 1) > LARGE_BYTES) ? 1 : 0);
	}

	static long largestQuota(List<Limit> limits) {
		long largest = 0;
		for (Limit limit : limits) {
			largest = Math.max(largest, limit.quota());
		}
		return largest;
	}

	@Override
	public long retryAfter(int limit, long cost) {
		long room = this.limits.get(limit).quota() - cost;
		if (this.used[limit] <= room) {
			return 0;
		}
		int last = this.log.first(0, (k) -> this.log.usedAfter(k) <= room);
		return this.log.time(last) + this.limits.get(limit).windowMicros() - this.now;
	}

	@Override
	public void add(long cost, String metadata) {
		enter(cost, metadata, mostKept());
	}

	/** As much again as the largest quota is kept, because it may be given back. */
	@Override
	public void charge(long cost, String metadata) {
		enter(cost, metadata, Math.max(this.used[this.used.length - 1], 2 * largestQuota(this.limits)));
	}

	@Override
	public void refund(long cost) {
		long back = Math.min(cost, this.used[this.used.length - 1]);
		int newest = this.log.first(0, (k) -> this.log.usedAfter(k) <= back);
		long total = this.log.total(this.log.last()) - back;
		this.log.forgetAfter(newest);
		this.log.setTotal(newest, total);
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
		return (this.used[this.used.length - 1] > 0) ? this.log.time(this.log.last()) + longestWindow() - this.now : 0;
	}

	@Override
	public MeterState state() {
		return this.log.state();
	}

	@Override
	public List<LogEntry> entries(int most, long before) {
		List<LogEntry> entries = new ArrayList<>();
		int first = this.log.first(1, (k) -> this.log.time(k) > this.now - longestWindow());
		int last = Math.max(first, this.log.first(1, (k) -> this.log.time(k) >= before)) - 1;
		int least = Math.max(first, last - most + 1);
		if (least > first) {
			long time = this.log.time(least);
			if (time == this.log.time(least - 1) && time < this.log.time(last)) {
				// Not all of that time would fit.
				least = this.log.first(least, (k) -> this.log.time(k) > time);
			}
		}
		for (int k = last; k >= least; k--) {
			entries.add(new LogEntry(Instant.EPOCH.plus(this.log.time(k), ChronoUnit.MICROS),
					this.log.total(k) - this.log.total(k - 1), this.log.metadata(k)));
		}
		return entries;
	}

	private void enter(long cost, String metadata, long keep) {
		long total = this.log.total(this.log.last()) + cost;
		this.log.forgetBefore(this.base);
		int last = this.log.last();
		if (this.shared && last > 0 && this.log.time(last) == this.present) {
			this.log.setTotal(last, total);
		}
		else {
			this.log.append(this.present, total, metadata);
		}
		if (this.log.usedAfter(0) > keep) {
			cut(keep);
		}
		if (this.capacity > 0 && this.log.last() > this.capacity) {
			merge();
		}
		for (int i = 0; i < this.used.length; i++) {
			this.used[i] = Math.min(this.used[i] + cost, keep);
		}
	}

	/**
	 * Leaves out entries that are in the same sub-window as the next one: a sixtieth of
	 * the shortest window that both are in. Longer sub-windows consist of whole shorter
	 * ones, so that no request is ever counted for longer than one of them too long. If
	 * one of two entries has left a window, and the other one has not, both stay.
	 */
	private void merge() {
		int kept = 0;
		int later = 0;
		for (int i = this.limits.size() - 1; i >= 0; i--) {
			int first = later + 1;
			long inside = (i > 0) ? this.now - this.limits.get(i - 1).windowMicros() : this.now;
			later = this.log.first(first, (k) -> this.log.time(k) > inside) - 1;
			for (int k = first; k <= later; k++) {
				if (k == later || this.log.time(k) / subWindow(i) != this.log.time(k + 1) / subWindow(i)) {
					kept++;
					this.log.copy(k, kept);
				}
			}
		}
		this.log.forgetAfter(kept);
	}

	private long subWindow(int limit) {
		long subWindow = 1;
		for (int i = 0; i <= limit; i++) {
			subWindow *= this.limits.get(i).windowMicros() / SUB_WINDOWS / subWindow;
		}
		return subWindow;
	}

	/** Forgets the oldest, so that what was used after the base is what is kept. */
	private void cut(long keep) {
		int first = this.log.first(0, (k) -> this.log.usedAfter(k) <= keep);
		this.log.forgetBefore((this.log.usedAfter(first) == keep) ? first : first - 1);
		this.log.setTotal(0, this.log.total(this.log.last()) - keep);
	}

	/**
	 * The most that is kept when a denied request makes the log hold more than anything
	 * may use.
	 * <p>
	 * The largest quota: what is older decides nothing. But never less than was used
	 * before, because others may have larger quotas, by which it still counts: those of
	 * another plan, or of before a change. The newest of what is kept takes the place of
	 * the oldest, so no stretch of time up to now holds less than it did before, and
	 * nobody is admitted beyond their quota, whoever else counts. And the log holds no
	 * more than the largest quota that there was for it.
	 */
	private long mostKept() {
		return Math.max(this.used[this.used.length - 1], largestQuota(this.limits));
	}

	private long longestWindow() {
		return this.limits.get(this.limits.size() - 1).windowMicros();
	}

}
