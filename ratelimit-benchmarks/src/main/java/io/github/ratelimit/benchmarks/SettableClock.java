package io.github.ratelimit.benchmarks;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/**
 * A clock that stands still until it is set.
 */
final class SettableClock implements InstantSource {

	private Instant now;

	SettableClock(Instant now) {
		this.now = now;
	}

	@Override
	public Instant instant() {
		return this.now;
	}

	void set(Instant now) {
		this.now = now;
	}

	void advance(Duration time) {
		this.now = this.now.plus(time);
	}

}
