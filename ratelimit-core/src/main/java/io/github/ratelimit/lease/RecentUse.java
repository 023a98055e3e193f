package io.github.ratelimit.lease;

/**
 * How much of a quota was used lately: some totals of the past. Not safe for use by
 * several threads.
 */
final class RecentUse {

	/** Samples are at least a quarter of the lease apart, and cover two leases. */
	private static final int SAMPLES = 8;

	private final long lease;

	private final long[] times = new long[SAMPLES];

	private final long[] totals = new long[SAMPLES];

	private long count;

	RecentUse(long lease) {
		this.lease = lease;
	}

	/** Keeps the total of a time, unless there is one of about the same time. */
	void sample(long now, long total) {
		if (this.count == 0 || now - this.times[index(1)] >= this.lease / 4) {
			this.count++;
			this.times[index(1)] = now;
			this.totals[index(1)] = total;
		}
	}

	/**
	 * Returns what was used in the last lease, on average over at most a quarter more.
	 */
	long lately(long now, long total) {
		long used = 0;
		for (int ago = 1; ago <= Math.min(this.count, SAMPLES); ago++) {
			long passed = now - this.times[index(ago)];
			if (passed > this.lease + this.lease / 4) {
				break;
			}
			used = scale(total - this.totals[index(ago)], this.lease, Math.max(this.lease, passed));
		}
		return used;
	}

	/**
	 * Returns what would be used in a time at the rate since the newest sample that is
	 * not too new.
	 */
	long expected(long now, long total, long time) {
		for (int ago = 1; ago <= Math.min(this.count, SAMPLES); ago++) {
			long passed = now - this.times[index(ago)];
			if (passed >= this.lease / 4) {
				return scale(total - this.totals[index(ago)], time, passed);
			}
		}
		return Long.MAX_VALUE;
	}

	private int index(int ago) {
		return Math.floorMod(this.count - ago, SAMPLES);
	}

	private static long scale(long used, long time, long passed) {
		return (time == passed) ? used : (long) (used * (double) time / passed);
	}

}
