package io.github.ratelimit.redis.pipeline;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Meter;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Counts a request for one limit, and tells what the counts amount to. A Redis key that
 * holds no count is as good as empty, and is replaced.
 */
abstract class Counter {

	private static final long NEVER = -1;

	private static final int NONE = -1;

	final CountedLimit of;

	/** Redis keys of all counts that matter. */
	final List<String> keys = new ArrayList<>();

	/** Which of them counts now. */
	int present;

	/** What they hold. */
	long[] counts = new long[0];

	/** What this request has added to the present count. */
	long added;

	/** By how much the present count was below nothing. */
	private long missing;

	/** Whether the present Redis key is to be replaced. */
	private boolean replaced;

	private int increment = NONE;

	private int read;

	private final List<GivenBack> givenBack = new ArrayList<>();

	Counter(CountedLimit of) {
		this.of = of;
	}

	private record GivenBack(String key, long cost, Transaction transaction, int place) {

	}

	/** What the algorithm makes of the counts. */
	abstract Meter meter(long[] counts);

	/** Time to live of the present count, in milliseconds. */
	abstract long ttlMillis();

	final String presentKey() {
		return this.keys.get(this.present);
	}

	/** Adds what counts the cost, and reads all counts then. */
	final void count(Transaction transaction) {
		this.increment = (this.of.cost() > 0) ? increment(transaction, this.of.cost()) : NONE;
		read(transaction);
	}

	/** Adds what counts a cost, and returns the place of the reply. */
	int increment(Transaction transaction, long cost) {
		int place = transaction.add(Command.INCRBY, presentKey(), cost);
		transaction.add(Command.PEXPIRE, presentKey(), ttlMillis());
		return place;
	}

	/** Adds what reads all counts. */
	void read(Transaction transaction) {
		this.read = transaction.add(Command.MGET, this.keys.get(0), this.keys.subList(1, this.keys.size()).toArray());
	}

	/** Takes the replies in. */
	void accept(Transaction transaction) {
		this.counts = transaction.replies(this.read).stream().mapToLong(Counter::number).toArray();
		if (this.counts.length != this.keys.size()) {
			throw new JedisException("The server has answered something else than counts");
		}
		Object error = (this.increment != NONE) ? transaction.reply(this.increment) : null;
		if (!(error instanceof JedisDataException ex)) {
			this.added = (this.increment != NONE) ? this.of.cost() : 0;
			this.missing = Math.max(0, this.added - this.counts[this.present]);
			this.counts[this.present] += this.missing;
			return;
		}
		String message = String.valueOf(ex.getMessage());
		if (message.startsWith("WRONGTYPE") || message.contains("not an integer")) {
			this.added = this.of.cost();
			forget();
		}
		else if (!message.contains("overflow")) {
			throw ex;
		}
	}

	private static long number(@Nullable Object reply) {
		try {
			return (reply instanceof byte[] text) ? Long.parseLong(new String(text, StandardCharsets.ISO_8859_1)) : 0;
		}
		catch (NumberFormatException ex) {
			return 0;
		}
	}

	final boolean isReplaced() {
		return this.replaced;
	}

	/** What the present Redis key held before this request does not count. */
	final void forget() {
		this.replaced = this.added > 0;
		this.counts[this.present] = this.added;
	}

	/**
	 * Adds what is left to do when it is decided whether the cost stays counted.
	 * @param later the time when that is decided
	 */
	void settle(Transaction transaction, boolean stays, Time later) {
		if (this.replaced) {
			transaction.add(Command.SET, presentKey(), stays ? this.added : 0, "PX", ttlMillis());
		}
		else if (!stays) {
			giveBack(transaction, presentKey(), this.added);
		}
		if (this.missing > 0) {
			transaction.add(Command.INCRBY, presentKey(), this.missing);
		}
	}

	/**
	 * Adds what gives the cost back, but not more than was used.
	 * @param later the time after the counts were read
	 */
	void refund(Transaction transaction, Time later) {
		giveBack(transaction, presentKey(), Math.min(this.of.cost(), this.counts[this.present]));
	}

	/**
	 * Adds what gives a cost back. If the count is gone, there remains one of nothing.
	 */
	final void giveBack(Transaction transaction, String key, long cost) {
		if (cost > 0) {
			transaction.add(Command.SET, key, cost, "PX", ttlMillis(), "NX");
			this.givenBack.add(new GivenBack(key, cost, transaction, transaction.add(Command.DECRBY, key, cost)));
		}
	}

	/** Adds what puts counts right of which others gave back at the same moment. */
	final void correct(Transaction transaction) {
		for (GivenBack each : this.givenBack) {
			if (each.transaction.reply(each.place) instanceof Long count && count < 0) {
				transaction.add(Command.INCRBY, each.key, Math.min(each.cost, -count));
			}
		}
	}

	/** Whether the limit allowed the cost before it was counted. */
	final boolean isAllowed() {
		return retryAfter(meter(false)) == 0;
	}

	private long retryAfter(Meter meter) {
		long cost = this.of.cost();
		if (cost == 0) {
			return 0;
		}
		return (cost <= this.of.largestCost()) ? meter.retryAfter(0, cost) : NEVER;
	}

	/**
	 * Tells how the limit stands.
	 * @param allowed whether the request is allowed
	 * @param stays whether the cost stays counted
	 */
	final LimitStatus status(boolean allowed, boolean stays) {
		long before = retryAfter(meter(false));
		Meter meter = meter(stays);
		long remaining = meter.remaining(0);
		// More quota has arrived when one more than what remains would be allowed.
		long resetAfter = (remaining < this.of.largestCost()) ? meter.retryAfter(0, remaining + 1) : 0;
		return LimitStatus.ofMicros(this.of.policy(), this.of.identifier(), this.of.limit(), remaining, resetAfter,
				(stays && !allowed) ? retryAfter(meter) : before, before != 0);
	}

	private Meter meter(boolean after) {
		long[] seen = this.counts.clone();
		seen[this.present] -= after ? 0 : this.added;
		for (int k = 0; k < seen.length; k++) {
			seen[k] = possible(seen[k]);
		}
		return meter(seen);
	}

	/** A count as the algorithms know it. */
	final long possible(long count) {
		return Math.max(0, Math.min(count, this.of.algorithm().maxQuota()));
	}

}
