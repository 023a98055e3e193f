package io.github.ratelimit.redis.pipeline;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

import com.github.benmanes.caffeine.cache.Caffeine;
import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.redis.connection.Servers;
import io.github.ratelimit.redis.script.RedisKeys;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Decides requests with plain commands. A round trip is one transaction for each slot;
 * they are sent together. If there are many counts, there are more. All operations throw
 * a {@link JedisException} if they fail.
 */
public final class PlainCommands implements RateLimiter {

	private static final Logger logger = LoggerFactory.getLogger(PlainCommands.class);

	private static final List<String> ALGORITHMS = List.of("fixed-window", "first-request-window", "sliding-window",
			"sliding-window-counter");

	/** How many counts a transaction has at most, which takes Redis two milliseconds. */
	private static final int MAX_COUNTS = 4000;

	private static final int MAX_PAST_COUNTS = 10_000;

	private final Servers servers;

	private final Duration budget;

	private final LongSupplier deadlines;

	private final RedisKeys keys;

	private final InstantSource clock;

	private final boolean customClock;

	private final Map<String, Long> pastCounts = Caffeine.newBuilder()
		.executor(Runnable::run)
		.maximumSize(MAX_PAST_COUNTS)
		.<String, Long>build()
		.asMap();

	/**
	 * @param budget how long an operation may take, apart from the first
	 * @param deadlines returns when an operation ends that begins now
	 */
	public PlainCommands(Servers servers, Duration budget, LongSupplier deadlines, RedisKeys keys) {
		this(servers, budget, deadlines, keys, InstantSource.system(), false);
	}

	private PlainCommands(Servers servers, Duration budget, LongSupplier deadlines, RedisKeys keys, InstantSource clock,
			boolean customClock) {
		this.deadlines = deadlines;
		this.servers = servers;
		this.budget = budget;
		this.keys = keys;
		this.clock = clock;
		this.customClock = customClock;
	}

	/** Returns the same with a custom clock, which the server's does not follow. */
	public PlainCommands withClock(InstantSource clock) {
		return new PlainCommands(this.servers, this.budget, this.deadlines, this.keys, clock, true);
	}

	@Override
	public void requireSupported(Policy policy) {
		RateLimiter.requireNoPenalty(policy);
		Algorithm algorithm = policy.algorithm();
		if (!ALGORITHMS.contains(algorithm.name())) {
			throw new IllegalArgumentException("Invalid algorithm (%s): must be one of %s where scripts are not used."
				.formatted(algorithm.name(), String.join(", ", ALGORITHMS)));
		}
		if (algorithm instanceof FixedWindow fixed && fixed.retain() > 1) {
			throw new IllegalArgumentException(
					"Invalid retain (%s): no past windows can be kept where scripts are not used."
						.formatted(fixed.retain()));
		}
		policy.limits().forEach((limit) -> AlignedCounter.requireSupported(policy, limit));
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		List<Counter> counters = counters(request, this.pastCounts);
		if (!request.enforced().stream().allMatch(Counter::isPossible)) {
			return look(request, counters);
		}
		count(counters, (charge) -> !charge.shadow() || Counter.isPossible(charge));
		Decision decision = decision(request, counters);
		settle(counters);
		return decision;
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		return look(request, counters(request, this.pastCounts));
	}

	@Override
	public void refund(RateLimitRequest request) {
		List<Counter> counters = counters(request, this.pastCounts);
		exchange(counters, Counter::read);
		finish(counters, Counter::refund);
	}

	@Override
	public void charge(RateLimitRequest request) {
		List<Counter> counters = counters(request.withPossibleCosts(), this.pastCounts);
		count(counters, (charge) -> true);
		settle(counters);
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		List<Counter> counters = counters(RateLimitRequest.of(policy, identifier), Map.of());
		exchange(counters, (counter, transaction) -> transaction.add(Command.DEL, counter.keys.toArray()));
		counters.forEach((counter) -> this.pastCounts.keySet().removeAll(counter.keys));
	}

	private List<Counter> counters(RateLimitRequest request, Map<String, Long> pastCounts) {
		long now = Meter.micros(this.clock.instant());
		long deadline = this.deadlines.getAsLong();
		long budget = Math.max(this.budget.toNanos(), deadline - System.nanoTime()) / 1000;
		Time time = new Time(now, budget, deadline, this.customClock);
		List<Counter> counters = new ArrayList<>();
		int part = 0;
		int counts = 0;
		for (Charge charge : request.charges()) {
			requireSupported(charge.policy());
			for (Identifier identifier : charge.identifiers()) {
				byte[] bytes = this.keys.key(identifier, charge.policy());
				String key = new String(bytes, StandardCharsets.US_ASCII);
				int slot = this.servers.slot(bytes);
				int before = counts;
				List<Counter> own = new ArrayList<>();
				for (Limit limit : charge.policy().limits()) {
					Counter counter = (charge.policy().algorithm() instanceof FirstRequestWindow)
							? new FirstRequestCounter(charge, identifier, limit, key, slot, time)
							: new AlignedCounter(charge, identifier, limit, key, slot, time, pastCounts);
					own.add(counter);
					counts += counter.keys.size();
				}
				if (counts > MAX_COUNTS && before > 0) {
					part++;
					counts -= before;
				}
				for (Counter counter : own) {
					counter.part = part;
				}
				counters.addAll(own);
			}
		}
		return counters;
	}

	private Decision look(RateLimitRequest request, List<Counter> counters) {
		exchange(counters, Counter::read);
		return decision(request, counters);
	}

	private static Decision decision(RateLimitRequest request, List<Counter> counters) {
		Decision decision = decision(counters, (charge) -> !charge.shadow(), true);
		return decision.withShadows(request.shadows(),
				(shadow) -> decision(counters, (charge) -> charge == shadow, decision.allowed()));
	}

	private static Decision decision(List<Counter> counters, Predicate<Charge> which, boolean isCounted) {
		List<Counter> together = counters.stream().filter((counter) -> which.test(counter.charge)).toList();
		boolean allowed = together.stream().allMatch(Counter::isAllowed);
		return new Decision(allowed, together.stream().map((counter) -> counter.decide(allowed, isCounted)).toList());
	}

	/** Counts some charges, and reads all. If one slot fails, others are cancelled. */
	private void count(List<Counter> counters, Predicate<Charge> which) {
		try {
			exchange(counters, (counter, transaction) -> {
				if (counter.charge.cost() > 0 && which.test(counter.charge)) {
					counter.increment(transaction);
				}
				counter.read(transaction);
			});
		}
		catch (JedisException ex) {
			// Not awaited, because the time may be over.
			send(counters, (counter, transaction) -> counter.settle(transaction, false),
					counters.get(0).time.deadline() + this.budget.toNanos());
			throw ex;
		}
	}

	private void settle(List<Counter> counters) {
		try {
			finish(counters, (counter, transaction) -> counter.settle(transaction, counter.stays));
		}
		catch (JedisException ex) {
			// The decision stands: to discard it might admit a denied request.
			logger.debug("Redis failed to finish the counts of a request", ex);
		}
	}

	/** Changes the counts if there is time left, by a clock that may have been set. */
	private void finish(List<Counter> counters, BiConsumer<Counter, Transaction> commands) {
		Time time = counters.get(0).time;
		if (Meter.micros(this.clock.instant()) - time.micros() <= time.budget()) {
			exchange(counters, commands);
			exchange(counters, Counter::mend);
		}
	}

	/**
	 * Sends all transactions, and waits for all replies.
	 * @throws JedisException the first failure, after all replies
	 */
	private void exchange(List<Counter> counters, BiConsumer<Counter, Transaction> commands) {
		JedisException failure = null;
		for (Transaction transaction : send(counters, commands, counters.get(0).time.deadline())) {
			try {
				transaction.await();
			}
			catch (JedisException ex) {
				failure = (failure != null) ? failure : ex;
			}
		}
		if (failure != null) {
			throw failure;
		}
	}

	private Collection<Transaction> send(List<Counter> counters, BiConsumer<Counter, Transaction> commands,
			long deadline) {
		Map<List<Integer>, Transaction> transactions = new LinkedHashMap<>();
		counters.forEach((counter) -> commands.accept(counter, transactions
			.computeIfAbsent(List.of(counter.slot, counter.part), (key) -> new Transaction(counter.slot, deadline))));
		transactions.values().forEach((transaction) -> transaction.submit(this.servers));
		return transactions.values();
	}

}
