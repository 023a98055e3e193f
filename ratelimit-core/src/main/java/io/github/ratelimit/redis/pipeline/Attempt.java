package io.github.ratelimit.redis.pipeline;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;

import io.github.ratelimit.Decision;
import io.github.ratelimit.redis.connection.Servers;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisException;

/**
 * The counters of one request. A round trip is a transaction for each slot, which are
 * sent together.
 */
final class Attempt {

	private static final Logger logger = LoggerFactory.getLogger(Attempt.class);

	/** In the order of the request. */
	private final List<Counter> counters;

	private final Map<Integer, List<Counter>> slots;

	private final Servers servers;

	private final Clock clock;

	private final long budget;

	private final long deadline;

	Attempt(List<Counter> counters, Servers servers, Clock clock, long budget) {
		this.counters = counters;
		this.slots = counters.stream()
			.collect(Collectors.groupingBy((counter) -> counter.of.slot(), LinkedHashMap::new, Collectors.toList()));
		this.servers = servers;
		this.clock = clock;
		this.budget = budget;
		this.deadline = System.nanoTime() + budget;
	}

	/** Counts the request, and takes it back if it is denied. */
	Decision acquire() {
		count();
		boolean allowed = this.counters.stream().allMatch(Counter::isAllowed);
		settle(allowed);
		return decision(allowed, true);
	}

	/** Counts the request whether it is allowed or not. */
	void charge() {
		count();
		settle(true);
	}

	/** Decides, and counts nothing. */
	Decision look() {
		exchange(Counter::read, Counter::accept);
		return decision(this.counters.stream().allMatch(Counter::isAllowed), false);
	}

	/** Gives the costs back. */
	void refund() {
		exchange(Counter::read, Counter::accept);
		Time later = this.clock.now();
		exchange((counter, transaction) -> counter.refund(transaction, later));
		exchange(Counter::correct);
	}

	/** Deletes all counts. */
	void reset() {
		exchange((counter, transaction) -> counter.keys.forEach((key) -> transaction.add(Command.DEL, key)));
	}

	/** If it fails for one slot, it is taken back from the others. */
	private void count() {
		Set<Counter> counted = new HashSet<>();
		try {
			exchange(Counter::count, (counter, transaction) -> {
				counter.accept(transaction);
				counted.add(counter);
			});
		}
		catch (JedisException ex) {
			// Nobody waits for that, because the time may be over.
			Time later = this.clock.now();
			this.slots.values().forEach((all) -> all.retainAll(counted));
			send(System.nanoTime() + this.budget, (counter, transaction) -> counter.settle(transaction, false, later));
			throw ex;
		}
	}

	private void settle(boolean allowed) {
		Time later = this.clock.now();
		try {
			exchange((counter, transaction) -> counter.settle(transaction, stays(counter, allowed), later));
			exchange(Counter::correct);
		}
		catch (JedisException ex) {
			// What was decided stands: to forget it might admit what was denied.
			logger.debug("Redis failed to end what a request has counted", ex);
		}
	}

	private static boolean stays(Counter counter, boolean allowed) {
		return allowed || counter.of.policy().countDenied();
	}

	private Decision decision(boolean allowed, boolean counted) {
		return new Decision(allowed,
				this.counters.stream()
					.map((counter) -> counter.status(allowed, counted && stays(counter, allowed)))
					.toList());
	}

	/** Redis keys of all counts. */
	List<String> keys() {
		return this.counters.stream().flatMap((counter) -> counter.keys.stream()).toList();
	}

	private void exchange(BiConsumer<Counter, Transaction> commands) {
		exchange(commands, (counter, transaction) -> {
		});
	}

	/**
	 * Sends commands to all slots, and waits for all replies.
	 * @throws JedisException the first failure, when all replies are there
	 */
	private void exchange(BiConsumer<Counter, Transaction> commands, BiConsumer<Counter, Transaction> replies) {
		JedisException failure = null;
		Map<Integer, Transaction> sent = send(this.deadline, commands);
		for (Transaction transaction : sent.values()) {
			failure = failure(failure, transaction::await);
		}
		for (Counter counter : this.counters) {
			Transaction transaction = sent.get(counter.of.slot());
			if (transaction != null && transaction.isAnswered()) {
				failure = failure(failure, () -> replies.accept(counter, transaction));
			}
		}
		if (failure != null) {
			throw failure;
		}
	}

	private static @Nullable JedisException failure(@Nullable JedisException first, Runnable task) {
		try {
			task.run();
			return first;
		}
		catch (JedisException ex) {
			return (first != null) ? first : ex;
		}
	}

	private Map<Integer, Transaction> send(long deadline, BiConsumer<Counter, Transaction> commands) {
		Map<Integer, Transaction> sent = new LinkedHashMap<>();
		this.slots.forEach((slot, all) -> {
			Transaction transaction = new Transaction(deadline);
			all.forEach((counter) -> commands.accept(counter, transaction));
			sent.put(slot, transaction);
		});
		sent.forEach((slot, transaction) -> transaction.submit(this.servers, slot));
		return sent;
	}

}
