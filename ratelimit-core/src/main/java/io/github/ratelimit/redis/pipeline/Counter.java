package io.github.ratelimit.redis.pipeline;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.redis.connection.WrongReplyException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Counts a request for one limit of a policy and identifier, and evaluates the counts. A
 * Redis key that contains no count is treated as empty and replaced.
 */
abstract class Counter {

	private static final int SUB_WINDOWS = 60;

	private static final long NEVER = -1;

	final Charge charge;

	final Limit limit;

	final int slot;

	/** The part of the request whose counts are changed and read in one transaction. */
	int part;

	final Time time;

	/** The Redis keys of all counts that are read. */
	final List<String> keys = new ArrayList<>();

	/** The index of the current one. */
	int present;

	/** The counts before this request. */
	long[] counts = new long[0];

	private final Identifier identifier;

	boolean stays = true;

	private long added;

	private boolean replaced;

	/** How far counts are below 0, by Redis key. */
	private final Map<String, Long> missing = new HashMap<>();

	Counter(Charge charge, Identifier identifier, Limit limit, int slot, Time time) {
		this.charge = charge;
		this.identifier = identifier;
		this.limit = limit;
		this.slot = slot;
		this.time = time;
	}

	abstract Meter meter();

	/** Without a precision, sub-windows are a fraction of the window of each limit. */
	static Algorithm algorithm(Policy policy, Limit limit) {
		return (policy.algorithm() instanceof SlidingWindow sliding && sliding.precision() == null)
				? new SlidingWindow(Duration.ofMillis(Math.max(1, limit.window().toMillis() / SUB_WINDOWS)))
				: policy.algorithm();
	}

	/** Returns the algorithm with a state, if there is one, of this limit alone. */
	final Meter meterOf(long... state) {
		return algorithm(this.charge.policy(), this.limit).meter(List.of(this.limit),
				(state.length > 0) ? MeterState.of(state) : null, this.time.micros());
	}

	abstract long ttlMillis();

	final String presentKey() {
		return this.keys.get(this.present);
	}

	void increment(Transaction transaction) {
		transaction.ask(this::acceptIncrement, Command.INCRBY, presentKey(), this.charge.cost());
	}

	private void acceptIncrement(@Nullable Object reply) {
		// A count that would overflow denies the cost anyway.
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
			throw new WrongReplyException("The server did not reply with counts", null);
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

	final long possible(long count) {
		return Math.max(0, Math.min(count, this.charge.policy().algorithm().maxQuota()));
	}

	final void forget() {
		this.counts[this.present] = 0;
		this.replaced = this.added > 0;
	}

	void settle(Transaction transaction, boolean stays) {
		if (this.replaced) {
			transaction.add(Command.SET, presentKey(), stays ? this.added : 0, "PX", ttlMillis());
		}
		else if (!stays) {
			giveBack(transaction, presentKey(), this.added);
		}
		mend(transaction);
	}

	/** Gives the cost back, from the newest count on, but no more than was used. */
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

	/** If the count is gone, it becomes 0. */
	void giveBack(Transaction transaction, String key, long cost) {
		if (cost > 0) {
			transaction.add(Command.SET, key, cost, "PX", ttlMillis(), "NX");
			transaction.ask((reply) -> {
				// Others have given back concurrently.
				if (reply instanceof Long count && count < 0) {
					this.missing.put(key, Math.min(cost, -count));
				}
			}, Command.DECRBY, key, cost);
		}
	}

	final void mend(Transaction transaction) {
		this.missing.forEach((key, count) -> {
			transaction.add(Command.SET, key, 0, "PX", ttlMillis(), "NX");
			transaction.add(Command.INCRBY, key, count);
		});
		this.missing.clear();
	}

	static boolean isPossible(Charge charge) {
		return charge.policy().limits().stream().allMatch((limit) -> charge.cost() <= largestCost(charge, limit));
	}

	private static long largestCost(Charge charge, Limit limit) {
		return charge.policy().algorithm().largestCost(limit);
	}

	/** Returns whether the limit allowed the cost before it was counted. */
	final boolean isAllowed() {
		return retryAfter(meter()) == 0;
	}

	private long retryAfter(Meter meter) {
		if (this.charge.cost() == 0) {
			return 0;
		}
		return (this.charge.cost() <= largestCost(this.charge, this.limit)) ? meter.retryAfter(0, this.charge.cost())
				: NEVER;
	}

	/**
	 * Stores the decision, and returns the status of the limit after it.
	 * @param isCounted whether anything of what is decided together with this counts
	 */
	final LimitStatus decide(boolean allowed, boolean isCounted) {
		this.stays = isCounted && (allowed || this.charge.policy().countDenied());
		Meter meter = meter();
		long before = retryAfter(meter);
		if (this.added > 0 && this.stays) {
			meter.add(this.added, "");
		}
		long remaining = meter.remaining(0);
		// More quota has arrived when one more than what remains would be allowed.
		long resetAfter = (remaining < largestCost(this.charge, this.limit)) ? meter.retryAfter(0, remaining + 1) : 0;
		return LimitStatus.ofMicros(this.charge.policy(), this.identifier, this.limit, remaining, resetAfter,
				allowed ? before : retryAfter(meter), before != 0);
	}

}
