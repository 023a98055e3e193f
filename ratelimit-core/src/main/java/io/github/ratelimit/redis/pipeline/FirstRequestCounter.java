package io.github.ratelimit.redis.pipeline;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol.Command;

/**
 * Counts for {@code first-request-window}: the time to live of the count is the rest of
 * the window. With a custom clock, a second Redis key has the end of the window.
 */
final class FirstRequestCounter extends Counter {

	private static final long NO_TTL = -1;

	private final long window;

	private long left;

	/** Whether this request may begin a window; not if it is only read. */
	private boolean incremented;

	private boolean renewed;

	FirstRequestCounter(Charge charge, Identifier identifier, Limit limit, String key, int slot, Time time) {
		super(charge, identifier, limit, slot, time);
		this.window = limit.windowMicros();
		for (int k = 0; k < (time.customClock() ? 2 : 1); k++) {
			this.keys.add(key + ':' + this.window / 1000 + ':' + k);
		}
	}

	/**
	 * One millisecond less than the window: a Redis key still exists in the millisecond
	 * in which its time to live is 0.
	 */
	@Override
	long ttlMillis() {
		return this.time.ttlMillis(this.window - 1000);
	}

	@Override
	void increment(Transaction transaction) {
		this.incremented = true;
		transaction.add(Command.SET, presentKey(), 0, "PX", ttlMillis(), "NX");
		if (this.time.customClock()) {
			transaction.add(Command.SET, this.keys.get(1), this.time.micros() + this.window, "PX", ttlMillis(), "NX");
		}
		super.increment(transaction);
	}

	@Override
	void read(Transaction transaction) {
		super.read(transaction);
		transaction.ask(this::acceptTtl, Command.PTTL, presentKey());
	}

	private void acceptTtl(@Nullable Object reply) {
		long millis = (reply instanceof Long ttl) ? ttl : NO_TTL;
		this.left = this.time.customClock() ? this.counts[1] - this.time.micros()
				: (millis == NO_TTL) ? Long.MAX_VALUE : 1000 * (millis + 1);
		if (this.left <= 0) {
			forget();
		}
		// If the clock was set back, the count lasts one window from now.
		boolean isOdd = this.left <= 0 || this.left > this.window;
		this.renewed = isOdd && this.incremented;
		this.left = isOdd ? this.window : this.left;
	}

	@Override
	void settle(Transaction transaction, boolean stays) {
		super.settle(transaction, stays);
		if (this.renewed && this.time.customClock()) {
			transaction.add(Command.SET, this.keys.get(1), this.time.micros() + this.window, "PX", ttlMillis());
		}
		else if (this.renewed) {
			transaction.add(Command.PEXPIRE, presentKey(), ttlMillis());
		}
	}

	/**
	 * Gives nothing back that might fall into the next window. With a custom clock, the
	 * count does not expire.
	 */
	@Override
	void giveBack(Transaction transaction, String key, long cost) {
		if (this.time.customClock() || this.left > this.time.lateness()) {
			super.giveBack(transaction, key, cost);
		}
	}

	@Override
	Meter meter() {
		return meterOf(this.time.micros() + this.left, this.counts[0]);
	}

}
