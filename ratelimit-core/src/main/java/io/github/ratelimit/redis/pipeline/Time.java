package io.github.ratelimit.redis.pipeline;

/**
 * The time of a request, by the clock of this process.
 *
 * @param micros microseconds since the epoch
 * @param budget how long the request may take, in microseconds
 * @param deadline until when that is, by {@link System#nanoTime()}
 * @param customClock whether the clock was handed in, so that the server's does not follow
 */
record Time(long micros, long budget, long deadline, boolean customClock) {

	/**
	 * By how much the clocks of two processes may differ, and how long after it was sent
	 * a command may be executed.
	 */
	private static final long DIFFERENCE = 500_000;

	private static final long CUSTOM_CLOCK_TTL_MILLIS = 60_000;

	/** By how much a request may be ahead that was counted before this one. */
	long overtaking() {
		return this.budget + DIFFERENCE;
	}

	/** How long it may take until the last command of a request is executed. */
	long lateness() {
		return 2 * this.budget + DIFFERENCE;
	}

	/** Time to live, in milliseconds, of what matters for some microseconds. */
	long ttlMillis(long micros) {
		return Math.max((micros + 999) / 1000, this.customClock ? CUSTOM_CLOCK_TTL_MILLIS : 1);
	}

}
