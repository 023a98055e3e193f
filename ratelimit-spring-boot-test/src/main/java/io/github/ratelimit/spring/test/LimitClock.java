package io.github.ratelimit.spring.test;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/**
 * The clock for limits in a test. It stands still until the test sets or advances it. It
 * starts at the beginning of a year.
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
	 * @param now the time, not before 1970; may be earlier than the current one
	 * @throws IllegalArgumentException if the time is before 1970
	 */
	public synchronized void set(Instant now) {
		if (now.isBefore(Instant.EPOCH)) {
			throw new IllegalArgumentException("Invalid time (%s): must not be before 1970.".formatted(now));
		}
		this.now = now;
	}

	/**
	 * Advances the time.
	 * @param time the duration, zero or more
	 * @throws IllegalArgumentException if the time is negative
	 */
	public synchronized void advance(Duration time) {
		if (time.isNegative()) {
			throw new IllegalArgumentException("Invalid time (%s): must not be negative.".formatted(time));
		}
		this.now = this.now.plus(time);
	}

}
