package io.github.ratelimit.redis.pipeline;

/**
 * The time of a request, by the clock of this process.
 *
 * @param micros microseconds since the epoch
 * @param latest the latest time so far; if it is later, the clock was set back
 * @param overtaking by how much a request may be ahead that was counted before this one,
 * in microseconds: as long as a request may take, and clocks may differ
 * @param handedIn whether the clock was handed in, so that the server's does not follow
 */
record Time(long micros, long latest, long overtaking, boolean handedIn) {

	private static final long HANDED_IN_TTL_MILLIS = 60_000;

	/** Time to live of what matters until some time, to whoever is late. */
	long ttlMillisUntil(long end) {
		return ttlMillis((end + this.overtaking - this.micros + 999) / 1000);
	}

	/** Time to live of what matters for some time by the server's clock. */
	long ttlMillis(long millis) {
		return Math.max(millis, this.handedIn ? HANDED_IN_TTL_MILLIS : 1);
	}

}
