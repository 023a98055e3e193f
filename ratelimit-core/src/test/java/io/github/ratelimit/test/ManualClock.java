package io.github.ratelimit.test;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/**
 * A clock that stands still until it is set, forwards or backwards.
 */
public final class ManualClock implements InstantSource {

	private volatile Instant now;

	public ManualClock(String now) {
		this.now = Instant.parse(now);
	}

	@Override
	public Instant instant() {
		return this.now;
	}

	public void set(String now) {
		this.now = Instant.parse(now);
	}

	public void advance(Duration time) {
		this.now = this.now.plus(time);
	}

}
