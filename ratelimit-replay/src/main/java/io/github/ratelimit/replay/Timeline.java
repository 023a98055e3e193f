package io.github.ratelimit.replay;

import java.util.Arrays;
import java.util.TreeMap;

/**
 * Counts over time, in periods of a length that grows with the log, so that there are at
 * most {@value #MOST}.
 */
final class Timeline {

	static final int MOST = 400;

	/** By how many times a period grows, from a second to a week; then it doubles. */
	private static final int[] GROWTH = { 5, 3, 4, 5, 3, 4, 6, 4, 7 };

	private final int counts;

	/** Counts of periods that have any, by the second when they begin. */
	TreeMap<Long, long[]> periods = new TreeMap<>();

	/** The length of a period, in seconds. */
	long length = 1;

	private int grown;

	Timeline(int counts) {
		this.counts = counts;
	}

	void add(long second, int count) {
		period(second)[count]++;
		while (this.periods.lastKey() - this.periods.firstKey() >= MOST * this.length) {
			grow((this.grown < GROWTH.length) ? GROWTH[this.grown] : 2);
		}
	}

	private void grow(int times) {
		TreeMap<Long, long[]> shorter = this.periods;
		this.periods = new TreeMap<>();
		this.length *= times;
		this.grown++;
		shorter.forEach((start, counts) -> {
			long[] sum = period(start);
			Arrays.setAll(sum, (i) -> sum[i] + counts[i]);
		});
	}

	private long[] period(long second) {
		return this.periods.computeIfAbsent(second - second % this.length, (start) -> new long[this.counts]);
	}

}
