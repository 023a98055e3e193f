package io.github.ratelimit.redis.pipeline;

import io.github.ratelimit.Meter;
import redis.clients.jedis.Protocol.Command;

/**
 * {@code first-request-window}: a count whose time to live is what is left of the window.
 * By a clock that was handed in, a second Redis key tells when the window ends.
 */
final class FirstRequestCounter extends Counter {

	/** How long the server may take for a command, in microseconds. */
	private static final long LATENESS = 500_000;

	/** How long a command may wait until it is sent, at least. */
	private static final long SENDING = 100_000;

	private final boolean handedIn;

	private long asked;

	private int ttl;

	/** What is left of the window, in microseconds. */
	private long left;

	/** Whether the window ends when one ends that begins now. */
	private boolean renewed;

	FirstRequestCounter(CountedLimit of) {
		super(of);
		this.handedIn = of.time().handedIn();
		for (int k = 0; k < (this.handedIn ? 2 : 1); k++) {
			this.keys.add(of.key(of.limit().windowText(), k));
		}
	}

	/**
	 * A Redis key lives on in the millisecond in which its time to live is 0, so that a
	 * millisecond less makes the window as long as it should be.
	 */
	@Override
	long ttlMillis() {
		return this.of.time().ttlMillis(this.of.window() / 1000 - 1);
	}

	@Override
	int increment(Transaction transaction, long cost) {
		transaction.add(Command.SET, presentKey(), 0, "PX", ttlMillis(), "NX");
		if (this.handedIn) {
			transaction.add(Command.SET, this.keys.get(1), newEnd(), "PX", ttlMillis(), "NX");
		}
		return transaction.add(Command.INCRBY, presentKey(), cost);
	}

	private long newEnd() {
		return this.of.time().micros() + this.of.window();
	}

	@Override
	void read(Transaction transaction) {
		super.read(transaction);
		this.ttl = transaction.add(Command.PTTL, presentKey());
		this.asked = System.nanoTime();
	}

	@Override
	void accept(Transaction transaction) {
		super.accept(transaction);
		this.left = this.of.window();
		if (this.handedIn) {
			long left = this.counts[1] - this.of.time().micros();
			// A window lasts no longer than that if the clock was set back.
			this.renewed = left <= 0 || left > this.of.window();
			this.left = this.renewed ? this.of.window() : left;
			if (left <= 0) {
				forget();
			}
		}
		else if (transaction.reply(this.ttl) instanceof Long millis && millis != -2) {
			this.renewed = millis == -1 || millis > ttlMillis();
			this.left = this.renewed ? this.of.window() : 1000 * (millis + 1);
		}
	}

	@Override
	void settle(Transaction transaction, boolean stays, Time later) {
		if (stays || isReplaced() || lasts(transaction, later)) {
			super.settle(transaction, stays, later);
		}
		if (this.renewed && this.handedIn) {
			transaction.add(Command.SET, this.keys.get(1), newEnd(), "PX", ttlMillis());
		}
		else if (this.renewed) {
			transaction.add(Command.PEXPIRE, presentKey(), ttlMillis());
		}
	}

	@Override
	void refund(Transaction transaction, Time later) {
		if (lasts(transaction, later)) {
			super.refund(transaction, later);
		}
	}

	/**
	 * Whether the window surely lasts until the commands are executed, which are not sent
	 * later than that. What is given back must not fall into the next one.
	 */
	private boolean lasts(Transaction transaction, Time later) {
		if (this.handedIn) {
			// Its Redis keys do not expire by that clock.
			return later.micros() - this.of.time().micros() < this.left;
		}
		long now = System.nanoTime();
		long elapsed = Math.max(later.micros() - this.of.time().micros(), (now - this.asked) / 1000);
		long sure = this.left - elapsed - LATENESS;
		if (sure < SENDING) {
			return false;
		}
		transaction.notAfter(now + 1000 * sure);
		return true;
	}

	@Override
	Meter meter(long[] counts) {
		return this.of.meter(this.of.time().micros() + this.left, counts[0]);
	}

}
