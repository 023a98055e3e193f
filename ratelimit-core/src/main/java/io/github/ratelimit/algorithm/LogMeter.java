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
 * same for Redis. Reading an entry is expensive there, so the script also stores what it
 * has read about the oldest entry in each window.
 * <p>
 * State: a {@link Log}. With a precision, the time of an entry is the end of the
 * sub-window of the request, so that the request counts for one window from then, and
 * requests of the same sub-window share an entry. With a capacity, entries have the times
 * of the requests. When there are more, those of the same sub-window are merged by
 * leaving out all but the newest, because totals are cumulative.
 */
final class LogMeter extends MeterBase implements Meter {

	private static final int SUB_WINDOWS = 60;

	/** Size in bytes from which a state is read and written in pieces. */
	private static final int LARGE_BYTES = 16_384;

	/** Largest number of entries; 0 for unlimited. */
	private final int capacity;

	/** Whether requests of the same time share an entry. */
	private final boolean shared;

	private final long present;

	private final Log log;

	private final long[] used;

	private int base;

	LogMeter(List<Limit> limits, @Nullable MeterState state, long now, long precision, int capacity, boolean metadata) {
		super(limits, now);
		this.capacity = capacity;
		this.shared = precision > 0 || capacity > 0;
		this.present = (precision > 0) ? now - now % precision + precision : now;
		this.log = new Log(state, metadata);
		this.used = new long[limits.size()];
		if (this.log.time(this.log.last()) > this.present) {
			// The clock was set back: entries in the future are moved to now.
			this.log.setTimesFrom(this.log.first(1, (k) -> this.log.time(k) > this.present), this.present);
			this.corrected = true;
		}
		for (int i = 0; i < limits.size(); i++) {
			long start = now - window(i);
			this.base = this.log.first(1, (k) -> this.log.time(k) > start) - 1;
			this.used[i] = this.log.usedAfter(this.base);
		}
	}

	/**
	 * @param width size of an entry in bytes
	 * @param most the largest number of entries that the quotas permit, besides the base
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
		long room = quota(limit) - cost;
		if (this.used[limit] <= room) {
			return 0;
		}
		int last = this.log.first(0, (k) -> this.log.usedAfter(k) <= room);
		return this.log.time(last) + window(limit) - this.now;
	}

	/**
	 * Keeps the largest quota when a denied request makes the log exceed it, because
	 * older entries do not affect decisions, but never less than was used before, because
	 * other requests of the same log may have larger quotas. The newest entries replace
	 * the oldest, so no period up to now holds less than before.
	 */
	@Override
	public void add(long cost, String metadata) {
		enter(cost, metadata, largestQuota(this.limits));
	}

	/** Keeps as much again as the largest quota, because it may be refunded. */
	@Override
	public void charge(long cost, String metadata) {
		enter(cost, metadata, 2 * largestQuota(this.limits));
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
		return Math.max(0, quota(limit) - this.used[limit]);
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
				// Not all entries of that time would fit.
				least = this.log.first(least, (k) -> this.log.time(k) > time);
			}
		}
		for (int k = last; k >= least; k--) {
			entries.add(new LogEntry(Instant.EPOCH.plus(this.log.time(k), ChronoUnit.MICROS),
					this.log.total(k) - this.log.total(k - 1), this.log.metadata(k)));
		}
		return entries;
	}

	private void enter(long cost, String metadata, long most) {
		long keep = Math.max(this.used[this.used.length - 1], most);
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
	 * Leaves out entries that are in the same sub-window as the next entry: a sixtieth of
	 * the shortest window that contains both. Longer sub-windows consist of whole shorter
	 * ones, so that no request is counted too long by more than one. If only one of two
	 * entries has left a window, both are kept.
	 */
	private void merge() {
		int kept = 0;
		int later = 0;
		for (int i = this.limits.size() - 1; i >= 0; i--) {
			int first = later + 1;
			long inside = (i > 0) ? this.now - window(i - 1) : this.now;
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
			subWindow *= window(i) / SUB_WINDOWS / subWindow;
		}
		return subWindow;
	}

	/** Drops the oldest entries, until their total is what is to be kept. */
	private void cut(long keep) {
		int first = this.log.first(0, (k) -> this.log.usedAfter(k) <= keep);
		this.log.forgetBefore((this.log.usedAfter(first) == keep) ? first : first - 1);
		this.log.setTotal(0, this.log.total(this.log.last()) - keep);
	}

	private long longestWindow() {
		return window(this.limits.size() - 1);
	}

}
