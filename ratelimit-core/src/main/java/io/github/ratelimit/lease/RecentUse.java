package io.github.ratelimit.lease;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * How much of a quota was used lately: some totals of the past. Not safe for use by
 * several threads.
 */
final class RecentUse {

	/** Samples are at least a quarter of the lease apart, and cover two leases. */
	private static final int SAMPLES = 8;

	private final long lease;

	/** From the newest to the oldest. */
	private final Deque<Sample> samples = new ArrayDeque<>();

	private record Sample(long time, long total) {

	}

	RecentUse(long lease) {
		this.lease = lease;
	}

	/** Keeps the total of a time, unless there is one of about the same time. */
	void sample(long now, long total) {
		if (this.samples.isEmpty() || now - this.samples.getFirst().time >= this.lease / 4) {
			this.samples.addFirst(new Sample(now, total));
			if (this.samples.size() > SAMPLES) {
				this.samples.removeLast();
			}
		}
	}

	/**
	 * Returns what was used in the last lease, on average over at most a quarter more.
	 */
	long lately(long now, long total) {
		long used = 0;
		for (Sample sample : this.samples) {
			long passed = now - sample.time;
			if (passed <= this.lease + this.lease / 4) {
				used = scale(total - sample.total, this.lease, Math.max(this.lease, passed));
			}
		}
		return used;
	}

	/**
	 * Returns what would be used in a time at the rate since the newest sample that is
	 * not too new.
	 */
	long expected(long now, long total, long time) {
		for (Sample sample : this.samples) {
			long passed = now - sample.time;
			if (passed >= this.lease / 4) {
				return scale(total - sample.total, time, passed);
			}
		}
		return Long.MAX_VALUE;
	}

	private static long scale(long used, long time, long passed) {
		return (time == passed) ? used : (long) (used * (double) time / passed);
	}

}
