package io.github.ratelimit.redis;

import java.time.InstantSource;
import java.time.temporal.ChronoUnit;

import static java.time.Instant.EPOCH;

/**
 * The time of a decision without scripts, by the clock of this process.
 *
 * @param micros microseconds since the epoch
 * @param handedIn whether the clock was handed in, so that the server's does not follow
 * it, and Redis keys must not expire by it
 */
record Moment(long micros, boolean handedIn) {

	/** How far the clocks of several processes may be apart. */
	private static final long CLOCK_DIFFERENCE_MICROS = 500_000;

	/** How long after its time a request may be counted. */
	private static final long LATENESS_MICROS = 500_000;

	/**
	 * By how much requests may have overtaken each other. When one is counted, none that
	 * was counted before has a time that is later by more. For as long as that after its
	 * end a window is still the present one to somebody, so that its Redis key must live
	 * and its count may change.
	 */
	static final long OVERTAKING_MICROS = CLOCK_DIFFERENCE_MICROS + LATENESS_MICROS;

	private static final long HANDED_IN_TTL_MILLIS = 60_000;

	static Moment now(InstantSource clock, boolean handedIn) {
		return new Moment(ChronoUnit.MICROS.between(EPOCH, clock.instant()), handedIn);
	}

	/** Whether it is too late to be sure that what was counted was counted in time. */
	boolean isOver(Moment now) {
		return now.micros - this.micros > LATENESS_MICROS;
	}

	/** Time to live of what matters until some time. */
	long ttlMillisUntil(long endMicros) {
		return ttlMillis((endMicros + OVERTAKING_MICROS - this.micros + 999) / 1000);
	}

	/** Time to live of what matters for some time by the server's clock. */
	long ttlMillis(long millis) {
		return Math.max(millis, this.handedIn ? HANDED_IN_TTL_MILLIS : 1);
	}

}
