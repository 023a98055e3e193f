package io.github.ratelimit.redis.pipeline;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;

import io.github.ratelimit.Limit;

/**
 * The clock of this process, which notices when it is set back. Safe for use by several
 * threads.
 */
final class Clock {

	/** How far the clocks of several processes may be apart. */
	private static final Duration DIFFERENCE = Duration.ofMillis(500);

	private final InstantSource source;

	private final boolean handedIn;

	private final long overtaking;

	private long latest;

	Clock(InstantSource source, boolean handedIn, Duration budget) {
		this.source = source;
		this.handedIn = handedIn;
		this.overtaking = budget.plus(DIFFERENCE).toNanos() / 1000;
	}

	/** One at a time, or a clock would seem to be set back that is not. */
	synchronized Time now() {
		long micros = ChronoUnit.MICROS.between(Instant.EPOCH, this.source.instant());
		if (micros < 0 || micros > Limit.MAX_QUOTA) {
			throw new IllegalArgumentException("Invalid time (%s): must be from 1970 to 2255.".formatted(micros));
		}
		this.latest = Math.max(this.latest, micros);
		return new Time(micros, this.latest, this.overtaking, this.handedIn);
	}

}
