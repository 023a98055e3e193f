package io.github.ratelimit.algorithm;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;

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
 * State: entries from the oldest to the newest, each with a time, the running total of
 * all costs up to and including it and, where metadata is kept, the running length of all
 * metadata. What a stretch of the log used is the difference of two totals, so both ends
 * of it are found by bisection, whatever the costs are. The first entry is the base: its
 * totals count, its time does not.
 * <p>
 * In front of the entries stands where the base is and where the entries end. A long log
 * is not copied: requests are entered into the room behind it, and it is written anew
 * when there is no room left, more is forgotten than not, or most of it was given back.
 * <p>
 * With a precision, a request is entered with the end of the sub-window that it is in, so
 * that it counts for a window from then, and requests of one sub-window share an entry.
 * With a capacity, requests are entered with their times, and whenever there are more
 * entries than that, those of one sub-window become one, which has the time of the
 * newest. To merge an entry with the one after it is to leave it out, because totals run
 * on.
 */
final class LogMeter implements Meter {

	/** How many numbers stand in front of the entries. */
	private static final int HEADER = 2;

	/**
	 * How many times as long as what counts a log may be: as long as forgetting leaves
	 * it.
	 */
	private static final int MAX_ROOM = 4;

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

	/** How many numbers an entry has. */
	private final int width;

	private final long[] used;

	private long[] log;

	/** Where the base is in the log. */
	private int start;

	/** Where the entries end in the log. */
	private int end;

	private String text;

	/** Last entry that has left the longest window. */
	private int base;

	private boolean corrected;

	LogMeter(List<Limit> limits, @Nullable MeterState state, long now, long precision, int capacity, boolean metadata) {
		this.limits = limits;
		this.now = now;
		this.capacity = capacity;
		this.shared = precision > 0 || capacity > 0;
		this.present = (precision > 0) ? now - now % precision + precision : now;
		this.width = metadata ? 3 : 2;
		this.used = new long[limits.size()];
		this.log = (state != null) ? state.numbers() : new long[HEADER + this.width];
		this.start = (state != null) ? (int) this.log[0] : HEADER;
		this.end = (state != null) ? (int) this.log[1] : this.log.length;
		this.text = (state != null) ? state.text() : "";
		int last = last();
		if (time(last) > this.present) {
			// The clock was set back: what it says came later than now came now.
			int future = first(1, (k) -> time(k) > this.present);
			this.log = this.log.clone();
			for (int k = future; k <= last; k++) {
				this.log[index(k)] = this.present;
			}
			this.corrected = true;
		}
		for (int i = 0; i < limits.size(); i++) {
			long start = now - limits.get(i).windowMicros();
			this.base = first(1, (k) -> time(k) > start) - 1;
			this.used[i] = usedAfter(this.base);
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
		return time(first(0, (k) -> usedAfter(k) <= room)) + this.limits.get(limit).windowMicros() - this.now;
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
		int newest = first(0, (k) -> usedAfter(k) <= back);
		long total = total(last()) - back;
		this.text = this.text.substring(0, textEnd(newest));
		this.end = index(newest + 1);
		this.log[index(newest) + 1] = total;
		if (this.log.length - HEADER > MAX_ROOM * (this.end - this.start)) {
			writeAnew();
		}
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
	public MeterState state() {
		this.log[0] = this.start;
		this.log[1] = this.end;
		return new MeterState(this.log, this.text);
	}

	@Override
	public List<LogEntry> entries(int most, long before) {
		List<LogEntry> entries = new ArrayList<>();
		int first = first(1, (k) -> time(k) > this.now - longestWindow());
		int last = Math.max(first, first(1, (k) -> time(k) >= before)) - 1;
		int least = Math.max(first, last - most + 1);
		if (least > first && time(least) == time(least - 1) && time(least) < time(last)) {
			// Not all of that time would fit.
			long time = time(least);
			least = first(least, (k) -> time(k) > time);
		}
		for (int k = last; k >= least; k--) {
			entries.add(new LogEntry(Instant.EPOCH.plus(time(k), ChronoUnit.MICROS), total(k) - total(k - 1),
					this.text.substring(textEnd(k - 1), textEnd(k))));
		}
		return entries;
	}

	private void enter(long cost, String metadata, long keep) {
		long total = total(last()) + cost;
		forget(this.base);
		if (this.shared && last() > 0 && time(last()) == this.present) {
			this.log[index(last()) + 1] = total;
		}
		else {
			append(total, metadata);
		}
		if (usedAfter(0) > keep) {
			cut(keep);
		}
		if (this.capacity > 0 && last() > this.capacity) {
			merge();
		}
		for (int i = 0; i < this.used.length; i++) {
			this.used[i] = Math.min(this.used[i] + cost, keep);
		}
	}

	private void append(long total, String metadata) {
		if (this.end + this.width > this.log.length) {
			writeAnew();
		}
		this.log[this.end] = this.present;
		this.log[this.end + 1] = total;
		if (this.width > 2) {
			this.log[this.end + 2] = this.log[this.end - 1] + metadata.length();
			this.text += metadata;
		}
		this.end += this.width;
	}

	/** Makes an entry the base of the log. */
	private void forget(int base) {
		this.text = this.text.substring(textEnd(base));
		this.start = index(base);
		if (this.start - HEADER > this.end - this.start) {
			writeAnew();
		}
	}

	/** Drops what is forgotten, and makes room for as much again. */
	private void writeAnew() {
		int length = this.end - this.start;
		long[] log = new long[HEADER + 2 * length];
		System.arraycopy(this.log, this.start, log, HEADER, length);
		this.log = log;
		this.start = HEADER;
		this.end = HEADER + length;
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
			later = first(first, (k) -> time(k) > inside) - 1;
			for (int k = first; k <= later; k++) {
				if (k == later || time(k) / subWindow(i) != time(k + 1) / subWindow(i)) {
					kept++;
					this.log[index(kept)] = time(k);
					this.log[index(kept) + 1] = total(k);
				}
			}
		}
		this.end = index(kept + 1);
	}

	private long subWindow(int limit) {
		long subWindow = 1;
		for (int i = 0; i <= limit; i++) {
			subWindow *= this.limits.get(i).windowMicros() / SUB_WINDOWS / subWindow;
		}
		return subWindow;
	}

	/** Makes the base that what was used after it is no more than is kept. */
	private void cut(long keep) {
		int first = first(0, (k) -> usedAfter(k) <= keep);
		forget((usedAfter(first) == keep) ? first : first - 1);
		this.log[this.start + 1] = total(last()) - keep;
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

	/** Where the metadata of an entry ends in the text. */
	private int textEnd(int k) {
		return (this.width > 2) ? (int) (this.log[index(k) + 2] - this.log[this.start + 2]) : 0;
	}

	private long longestWindow() {
		return this.limits.get(this.limits.size() - 1).windowMicros();
	}

	/** Where an entry is in the log. */
	private int index(int k) {
		return this.start + this.width * k;
	}

	private int last() {
		return (this.end - this.start) / this.width - 1;
	}

	private long time(int k) {
		return this.log[index(k)];
	}

	private long total(int k) {
		return this.log[index(k) + 1];
	}

	/** What was used after an entry. */
	private long usedAfter(int k) {
		return total(last()) - total(k);
	}

	/**
	 * First entry for which something is true, as it is for all after it; one past the
	 * last if none. The older it is, the fewer entries are looked at.
	 */
	private int first(int low, IntPredicate is) {
		int high = low;
		int step = 1;
		while (high <= last() && !is.test(high)) {
			low = high + 1;
			high = high + step;
			step = 2 * step;
		}
		high = Math.min(high, last() + 1);
		while (low < high) {
			int middle = (low + high) / 2;
			if (is.test(middle)) {
				high = middle;
			}
			else {
				low = middle + 1;
			}
		}
		return low;
	}

}
