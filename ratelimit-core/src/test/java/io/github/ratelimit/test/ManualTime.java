package io.github.ratelimit.test;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Semaphore;

import io.github.ratelimit.waiting.WaitingRateLimiter;

/**
 * Advances a clock by the time for which callers would sleep.
 *
 * @param clock the clock
 */
public record ManualTime(ManualClock clock) implements WaitingRateLimiter.Time {

	@Override
	public long nanoTime() {
		return Duration.between(Instant.EPOCH, this.clock.instant()).toNanos();
	}

	@Override
	public void pass(long nanos, Semaphore signal) throws InterruptedException {
		if (Thread.interrupted()) {
			throw new InterruptedException();
		}
		this.clock.advance(Duration.ofNanos(nanos));
	}

}
