package io.github.ratelimit.algorithm;

import java.util.function.IntPredicate;

import io.github.ratelimit.MeterState;
import org.jspecify.annotations.Nullable;

/**
 * The entries of a log, from the oldest to the newest. Each has a time and the running
 * total of all costs up to and including it, and if metadata is kept, the running length
 * of all metadata. The cost of a range of entries is the difference of two totals, so
 * both ends of a range are found by bisection. The first entry is the base: its totals
 * count, its time does not.
 * <p>
 * The state has the position of the base and the end of the entries before these. A long
 * log is not copied: entries are appended into unused room at its end, until there is
 * none, more than half is dropped, or most was refunded. Not safe for use by several
 * threads.
 */
final class Log {

	private static final int HEADER = 2;

	/** The largest length as a multiple of the entries that count. */
	private static final int MAX_ROOM = 4;

	private final int width;

	private long[] numbers;

	private int start;

	private int end;

	private String text;

	Log(@Nullable MeterState state, boolean metadata) {
		this.width = metadata ? 3 : 2;
		this.numbers = (state != null) ? state.numbers() : new long[HEADER + this.width];
		this.start = (state != null) ? (int) this.numbers[0] : HEADER;
		this.end = (state != null) ? (int) this.numbers[1] : this.numbers.length;
		this.text = (state != null) ? state.text() : "";
	}

	MeterState state() {
		this.numbers[0] = this.start;
		this.numbers[1] = this.end;
		return new MeterState(this.numbers, this.text);
	}

	/** Returns the newest entry; 0, the base, if there are no others. */
	int last() {
		return (this.end - this.start) / this.width - 1;
	}

	long time(int k) {
		return this.numbers[index(k)];
	}

	long total(int k) {
		return this.numbers[index(k) + 1];
	}

	String metadata(int k) {
		return this.text.substring(textEnd(k - 1), textEnd(k));
	}

	long usedAfter(int k) {
		return total(last()) - total(k);
	}

	/**
	 * Returns the first entry from which on all match; one past the last if there is
	 * none. The older the entry, the fewer are read.
	 */
	int first(int low, IntPredicate is) {
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

	/** Sets the times of an entry and of all after it, and leaves the state as it is. */
	void setTimesFrom(int first, long time) {
		this.numbers = this.numbers.clone();
		for (int k = first; k <= last(); k++) {
			this.numbers[index(k)] = time;
		}
	}

	void setTotal(int k, long total) {
		this.numbers[index(k) + 1] = total;
	}

	void append(long time, long total, String metadata) {
		if (this.end + this.width > this.numbers.length) {
			rewrite();
		}
		this.numbers[this.end] = time;
		this.numbers[this.end + 1] = total;
		if (this.width > 2) {
			this.numbers[this.end + 2] = this.numbers[this.end - 1] + metadata.length();
			this.text += metadata;
		}
		this.end += this.width;
	}

	/** Copies an entry without its metadata. */
	void copy(int from, int to) {
		this.numbers[index(to)] = time(from);
		this.numbers[index(to) + 1] = total(from);
	}

	void forgetBefore(int base) {
		this.text = this.text.substring(textEnd(base));
		this.start = index(base);
		if (this.start - HEADER > this.end - this.start) {
			rewrite();
		}
	}

	void forgetAfter(int last) {
		this.text = this.text.substring(0, textEnd(last));
		this.end = index(last + 1);
		if (this.numbers.length - HEADER > MAX_ROOM * (this.end - this.start)) {
			rewrite();
		}
	}

	/** Removes dropped entries, and makes room for as many again. */
	private void rewrite() {
		int length = this.end - this.start;
		long[] numbers = new long[HEADER + 2 * length];
		System.arraycopy(this.numbers, this.start, numbers, HEADER, length);
		this.numbers = numbers;
		this.start = HEADER;
		this.end = HEADER + length;
	}

	private int index(int k) {
		return this.start + this.width * k;
	}

	/** Returns the end of the metadata of an entry in the text. */
	private int textEnd(int k) {
		return (this.width > 2) ? (int) (this.numbers[index(k) + 2] - this.numbers[this.start + 2]) : 0;
	}

}
