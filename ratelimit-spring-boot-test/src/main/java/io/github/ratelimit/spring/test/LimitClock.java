package io.github.ratelimit.spring.test;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/**
 * The clock by which limits are counted in a test. It stands still until the test sets
 * it. At first it is at the beginning of a year.
 * <p>
 * Safe for use by several threads.
 *
 * @since 0.1
 */
public final class LimitClock implements InstantSource {

	private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

	private Instant now = START;

	@Override
	public synchronized Instant instant() {
		return this.now;
	}

	/**
	 * Sets the time.
	 * @param now the time, from 1970 on; may be before the present one
	 * @throws IllegalArgumentException if the time is before 1970
	 */
	public synchronized void set(Instant now) {
		if (now.isBefore(Instant.EPOCH)) {
			throw new IllegalArgumentException("Invalid time (%s): must not be before 1970.".formatted(now));
		}
		this.now = now;
	}

	/**
	 * Lets time pass.
	 * @param time how much, zero or more
	 * @throws IllegalArgumentException if the time is negative
	 */
	public synchronized void advance(Duration time) {
		if (time.isNegative()) {
			throw new IllegalArgumentException("Invalid time (%s): must not be negative.".formatted(time));
		}
		this.now = this.now.plus(time);
	}

}
