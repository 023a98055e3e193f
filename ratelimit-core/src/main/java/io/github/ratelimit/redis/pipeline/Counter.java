package io.github.ratelimit.redis.pipeline;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import io.github.ratelimit.Policy;
import io.github.ratelimit.redis.connection.WrongReplyException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Counts a request for one limit of a policy and identifier, and tells what the counts
 * amount to. A Redis key that holds no count is as good as empty, and is replaced.
 */
abstract class Counter {

	private static final long NEVER = -1;

	final Charge charge;

	final Limit limit;

	final int slot;

	final Time time;

	/** Redis keys of all counts that are read. */
	final List<String> keys = new ArrayList<>();

	/** Which of them counts now. */
	int present;

	/** What they held before this request. */
	long[] counts = new long[0];

	private final Identifier identifier;

	/** Whether the request, or what is decided together with this, is allowed. */
	private boolean allowed = true;

	/** Whether the cost stays counted. */
	boolean stays = true;

	/** What this request has added to the present count. */
	private long added;

	/** Whether the present Redis key is to be replaced. */
	private boolean replaced;

	/** By how much counts are below nothing, by Redis key. */
	private final Map<String, Long> missing = new HashMap<>();

	Counter(Charge charge, Identifier identifier, Limit limit, int slot, Time time) {
		this.charge = charge;
		this.identifier = identifier;
		this.limit = limit;
		this.slot = slot;
		this.time = time;
	}

	/** What the algorithm makes of the counts. */
	abstract Meter meter();

	/**
	 * What the algorithm makes of a state of the limit alone; without numbers, of none.
	 */
	final Meter meterOf(long... state) {
		return this.charge.policy()
			.algorithm()
			.withoutScripts(this.limit)
			.meter(List.of(this.limit), (state.length > 0) ? MeterState.of(state) : null, this.time.micros());
	}

	/** Time to live of the present count, in milliseconds. */
	abstract long ttlMillis();

	final String presentKey() {
		return this.keys.get(this.present);
	}

	/** Adds what counts the cost, and reads all counts then. */
	final void count(Transaction transaction) {
		if (this.charge.cost() > 0) {
			increment(transaction);
		}
		read(transaction);
	}

	void increment(Transaction transaction) {
		transaction.ask(this::acceptIncrement, Command.INCRBY, presentKey(), this.charge.cost());
	}

	private void acceptIncrement(@Nullable Object reply) {
		// A count that would overflow has no room for the cost anyway.
		boolean overflows = reply instanceof JedisDataException ex
				&& String.valueOf(ex.getMessage()).contains("overflow");
		this.added = overflows ? 0 : this.charge.cost();
		this.replaced = reply instanceof JedisDataException && !overflows;
	}

	void read(Transaction transaction) {
		transaction.ask(this::accept, Command.MGET, this.keys.toArray());
	}

	void accept(@Nullable Object reply) {
		if (!(reply instanceof List<?> numbers) || numbers.size() != this.keys.size()) {
			throw new WrongReplyException("The server has answered something else than counts", null);
		}
		this.counts = numbers.stream().mapToLong(Counter::number).toArray();
		this.counts[this.present] -= this.added;
		if (this.added > 0 && !this.replaced && this.counts[this.present] < 0) {
			this.missing.put(presentKey(), -this.counts[this.present]);
		}
		Arrays.setAll(this.counts, (k) -> possible(this.counts[k]));
	}

	private static long number(@Nullable Object reply) {
		try {
			return (reply instanceof byte[] text) ? Long.parseLong(new String(text, StandardCharsets.ISO_8859_1)) : 0;
		}
		catch (NumberFormatException ex) {
			return 0;
		}
	}

	/** A count as the algorithms know it. */
	final long possible(long count) {
		return Math.max(0, Math.min(count, this.charge.policy().algorithm().maxQuota()));
	}

	/** What the present Redis key held before this request does not count. */
	final void forget() {
		this.counts[this.present] = 0;
		this.replaced = this.added > 0;
	}

	/** Adds what is left to do when it is decided whether the cost stays counted. */
	void settle(Transaction transaction, boolean stays) {
		if (this.replaced) {
			transaction.add(Command.SET, presentKey(), stays ? this.added : 0, "PX", ttlMillis());
		}
		else if (!stays) {
			giveBack(transaction, presentKey(), this.added);
		}
		mend(transaction);
	}

	/** Adds what gives the cost back from the newest, but not more than was used. */
	final void refund(Transaction transaction) {
		long left = this.charge.cost();
		for (int k = 0; k <= oldestToRefund(); k++) {
			long back = Math.min(left, this.counts[k]);
			giveBack(transaction, this.keys.get(k), back);
			left -= back;
		}
	}

	int oldestToRefund() {
		return this.present;
	}

	/**
	 * Adds what gives a cost back. If the count is gone, there remains one of nothing.
	 */
	void giveBack(Transaction transaction, String key, long cost) {
		if (cost > 0) {
			transaction.add(Command.SET, key, cost, "PX", ttlMillis(), "NX");
			transaction.ask((reply) -> {
				// Others have given back at the same moment.
				if (reply instanceof Long count && count < 0) {
					this.missing.put(key, Math.min(cost, -count));
				}
			}, Command.DECRBY, key, cost);
		}
	}

	/** Adds what puts counts right that are below nothing. */
	final void mend(Transaction transaction) {
		this.missing.forEach((key, count) -> {
			transaction.add(Command.SET, key, 0, "PX", ttlMillis(), "NX");
			transaction.add(Command.INCRBY, key, count);
		});
		this.missing.clear();
	}

	/** Whether all limits could ever allow the cost. */
	static boolean isPossible(Charge charge) {
		return charge.policy().limits().stream().allMatch((limit) -> charge.cost() <= largestCost(charge, limit));
	}

	private static long largestCost(Charge charge, Limit limit) {
		return charge.policy().algorithm().largestCost(limit);
	}

	/** Whether the limit allowed the cost before it was counted. */
	final boolean isAllowed() {
		return retryAfter(meter()) == 0;
	}

	private long retryAfter(Meter meter) {
		if (this.charge.cost() == 0) {
			return 0;
		}
		boolean isPossible = this.charge.cost() <= largestCost(this.charge, this.limit);
		return isPossible ? meter.retryAfter(0, this.charge.cost()) : NEVER;
	}

	/**
	 * Notes what was decided.
	 * @param allowed whether what is decided together with this is allowed
	 * @param isCounted whether anything of it counts
	 */
	final void decide(boolean allowed, boolean isCounted) {
		this.allowed = allowed;
		this.stays = isCounted && (allowed || this.charge.policy().countDenied());
	}

	/** Tells how the limit stands when it is decided. */
	final LimitStatus status() {
		Meter meter = meter();
		long before = retryAfter(meter);
		if (this.added > 0 && this.stays) {
			meter.add(this.added, "");
		}
		long remaining = meter.remaining(0);
		// More quota has arrived when one more than what remains would be allowed.
		long resetAfter = (remaining < largestCost(this.charge, this.limit)) ? meter.retryAfter(0, remaining + 1) : 0;
		return LimitStatus.ofMicros(this.charge.policy(), this.identifier, this.limit, remaining, resetAfter,
				this.allowed ? before : retryAfter(meter), before != 0);
	}

}
