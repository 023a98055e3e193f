package io.github.ratelimit.replay;

import java.time.Duration;
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

	/** Counts by the number of the period since the epoch. */
	private TreeMap<Long, long[]> periods = new TreeMap<>();

	private long length = 1;

	private int grown;

	Timeline(int counts) {
		this.counts = counts;
	}

	void add(long second, int count) {
		period(Math.floorDiv(second, this.length))[count]++;
		while (this.periods.lastKey() - this.periods.firstKey() >= MOST) {
			grow((this.grown < GROWTH.length) ? GROWTH[this.grown] : 2);
		}
	}

	private void grow(int times) {
		TreeMap<Long, long[]> shorter = this.periods;
		this.periods = new TreeMap<>();
		this.length *= times;
		this.grown++;
		shorter.forEach((number, counts) -> {
			long[] sum = period(Math.floorDiv(number, times));
			Arrays.setAll(sum, (i) -> sum[i] + counts[i]);
		});
	}

	private long[] period(long number) {
		return this.periods.computeIfAbsent(number, (key) -> new long[this.counts]);
	}

	/** Returns the length of a period. */
	Duration length() {
		return Duration.ofSeconds(this.length);
	}

	/** Returns the counts of periods that have any, by the second when they begin. */
	TreeMap<Long, long[]> periods() {
		TreeMap<Long, long[]> all = new TreeMap<>();
		this.periods.forEach((number, counts) -> all.put(number * this.length, counts));
		return all;
	}

}
