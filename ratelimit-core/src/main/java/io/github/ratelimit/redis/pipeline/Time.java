package io.github.ratelimit.redis.pipeline;

/**
 * The time of a request, by a clock of this process.
 *
 * @param micros microseconds since the epoch
 * @param budget how long the request may take, in microseconds
 * @param deadline when that time ends, by {@link System#nanoTime()}
 * @param customClock whether the clock was set, and the server's does not follow it
 */
record Time(long micros, long budget, long deadline, boolean customClock) {

	/**
	 * The largest difference between the clocks of two processes, and the longest delay
	 * between the sending and the execution of a command.
	 */
	private static final long DIFFERENCE = 500_000;

	private static final long CUSTOM_CLOCK_TTL_MILLIS = 60_000;

	/** Returns how much later the time of a request counted earlier may be. */
	long overtaking() {
		return this.budget + DIFFERENCE;
	}

	/** Returns the longest time until the last command of a request is executed. */
	long lateness() {
		return 2 * this.budget + DIFFERENCE;
	}

	/** Returns the time to live, in milliseconds, of a key that matters this long. */
	long ttlMillis(long micros) {
		return Math.max((micros + 999) / 1000, this.customClock ? CUSTOM_CLOCK_TTL_MILLIS : 1);
	}

}
