package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * When calls end: after the time budget. The first calls, which also connect and load
 * classes, have ten seconds together, unless connecting fails before.
 */
final class Deadlines {

	private static final long FIRST = TimeUnit.SECONDS.toNanos(10);

	private final long budget;

	/** Whether Redis has answered, or the time of the first calls is over. */
	private volatile boolean connected;

	private long first;

	Deadlines(Duration budget) {
		this.budget = budget.toNanos();
	}

	/** Returns when a call ends that begins now, by {@link System#nanoTime()}. */
	long next() {
		long now = System.nanoTime();
		return now + (this.connected ? this.budget : Math.max(this.budget, leftForFirst(now)));
	}

	private synchronized long leftForFirst(long now) {
		if (this.first == 0) {
			this.first = now + FIRST;
		}
		return this.first - now;
	}

	void connected() {
		if (!this.connected) {
			this.connected = true;
		}
	}

}
