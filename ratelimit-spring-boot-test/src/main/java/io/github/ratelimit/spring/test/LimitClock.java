package io.github.ratelimit.spring.test;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.Semaphore;

import io.github.ratelimit.Limit;
import io.github.ratelimit.waiting.WaitingRateLimiter;

/**
 * The clock for limits in a test. It stands still until the test sets or advances it. It
 * starts at the beginning of a year. Code that waits for a limit does not sleep in such a
 * test: it advances the clock by the time for which it would.
 * <p>
 * Safe for use by several threads.
 *
 * @since 0.1
 */
public final class LimitClock implements InstantSource, WaitingRateLimiter.Time {

	private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

	/** The last time that every store can calculate with. */
	private static final Instant LAST = Instant.EPOCH.plus(Limit.MAX_QUOTA, ChronoUnit.MICROS);

	private Instant now = START;

	@Override
	public synchronized Instant instant() {
		return this.now;
	}

	/**
	 * Returns the time for those who wait.
	 * @return the time in nanoseconds since the epoch
	 */
	@Override
	public long nanoTime() {
		return Duration.between(Instant.EPOCH, instant()).toNanos();
	}

	/**
	 * Advances the time instead of waiting.
	 * @param nanos the time in nanoseconds
	 * @param signal is not waited for
	 */
	@Override
	public void pass(long nanos, Semaphore signal) throws InterruptedException {
		if (Thread.interrupted()) {
			throw new InterruptedException();
		}
		advance(Duration.ofNanos(nanos));
	}

	/**
	 * Sets the time.
	 * @param now the time, from 1970 to 2255-06-05T23:47:34.740991Z, the last one that
	 * limits can be decided at; may be earlier than the current one
	 * @throws IllegalArgumentException if the time is out of range
	 */
	public synchronized void set(Instant now) {
		if (now.isBefore(Instant.EPOCH) || now.isAfter(LAST)) {
			throw new IllegalArgumentException(
					"Invalid time (%s): must be from %s to %s.".formatted(now, Instant.EPOCH, LAST));
		}
		this.now = now;
	}

	/**
	 * Advances the time.
	 * @param time the duration, zero or more
	 * @throws IllegalArgumentException if the duration is negative, or leads beyond the
	 * last time that can be {@linkplain #set set}
	 */
	public synchronized void advance(Duration time) {
		if (time.isNegative()) {
			throw new IllegalArgumentException("Invalid time (%s): must not be negative.".formatted(time));
		}
		if (time.compareTo(Duration.between(this.now, LAST)) > 0) {
			throw new IllegalArgumentException(
					"Invalid time (%s): must not lead from %s beyond %s.".formatted(time, this.now, LAST));
		}
		this.now = this.now.plus(time);
	}

}
