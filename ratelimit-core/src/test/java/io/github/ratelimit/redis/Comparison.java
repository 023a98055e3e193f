package io.github.ratelimit.redis;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.Block;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.ManualClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Asks a rate limiter in Redis and one in memory the same, and compares field by field
 * what they answer, what they remember, and whom they penalize.
 */
final class Comparison {

	private static final Logger logger = LoggerFactory.getLogger(Comparison.class);

	/**
	 * After so many operations, and at the end, all counts are compared; after the others
	 * those that the operation could change.
	 */
	private static final int ALL_AFTER = 5;

	/** After so many operations, as only long runs have, the log says how many so far. */
	private static final int TELL_AFTER = 200_000;

	private static final Map<String, Policy> POLICIES = OperationSequences.POLICIES.stream()
		.collect(Collectors.toMap(Policy::name, Function.identity()));

	private final ManualClock clock;

	/** All tries share it, because it keeps scripts that took long to compose. */
	private final RateLimiter inRedis;

	private final List<Penalized> byRedis = new ArrayList<>();

	/** How many operations there were, and how many met each algorithm. */
	private final Map<String, LongAdder> counts = new TreeMap<>();

	private record Penalized(Block block, boolean shadow) {

	}

	Comparison(RedisRateLimiter limiter, ManualClock clock) {
		this.clock = clock;
		this.inRedis = limiter.withClock(clock)
			.withPenaltyListener((block, shadow) -> this.byRedis.add(new Penalized(block, shadow)));
	}

	void compare(String start, List<Operation> operations) {
		this.clock.set(start);
		this.byRedis.clear();
		List<Penalized> byMemory = new ArrayList<>();
		RateLimiter memory = new MemoryRateLimiter(this.clock, Integer.MAX_VALUE,
				(block, shadow) -> byMemory.add(new Penalized(block, shadow)));
		List<Policy> all = policies(operations);
		Decision last = Operation.NONE;
		int step = 0;
		for (Operation operation : operations) {
			operation.pass(this.clock, last);
			Object inMemory = operation.ask(memory, this.clock);
			assertThat(differences(operation.ask(this.inRedis, this.clock), inMemory))
				.as("step %d: %s", step, operation)
				.isEmpty();
			assertThat(this.byRedis).as("penalties after step %d: %s", step, operation)
				.containsExactlyInAnyOrderElementsOf(byMemory);
			boolean compareAll = step % ALL_AFTER == ALL_AFTER - 1;
			compareAll(peek(compareAll ? all : policies(List.of(operation))), memory,
					"after step " + step + ": " + operation);
			last = Operation.decision(inMemory).orElse(last);
			step++;
			count(operation);
		}
		compareAll(finalChecks(all), memory, "at the end");
	}

	private void compareAll(List<Operation> checks, RateLimiter memory, String when) {
		for (Operation check : checks) {
			assertThat(differences(check.ask(this.inRedis, this.clock), check.ask(memory, this.clock)))
				.as("%s: %s", when, check)
				.isEmpty();
		}
	}

	/**
	 * What the operations count with, in one order, with the quotas that they have
	 * mostly.
	 */
	static List<Policy> policies(Collection<Operation> operations) {
		return operations.stream()
			.flatMap((operation) -> operation.policies().stream())
			.map((policy) -> POLICIES.getOrDefault(policy.name(), policy))
			.distinct()
			.sorted(Comparator.comparing(Policy::name))
			.toList();
	}

	static List<Operation> peek(List<Policy> policies) {
		return policies.isEmpty() ? List.of() : List.of(Operation.peek(new RateLimitRequest(
				policies.stream().map((policy) -> new Charge(policy, OperationSequences.IDENTIFIERS, 1)).toList())));
	}

	private static List<Operation> finalChecks(List<Policy> policies) {
		List<Operation> checks = new ArrayList<>(peek(policies));
		for (Policy policy : policies) {
			OperationSequences.IDENTIFIERS.forEach((identifier) -> checks.add(Operation.history(policy, identifier)));
		}
		checks.add(Operation.listBlocks());
		return checks;
	}

	void count(Operation operation) {
		LongAdder all = this.counts.computeIfAbsent("all", (name) -> new LongAdder());
		all.increment();
		operation.policies()
			.stream()
			.map((policy) -> policy.algorithm().name())
			.distinct()
			.forEach((name) -> this.counts.computeIfAbsent(name, (key) -> new LongAdder()).increment());
		if (all.sum() % TELL_AFTER == 0) {
			logger.info("Compared so far: {}", this.counts);
		}
	}

	void tellHowMuchWasCompared() {
		logger.info("Compared without a difference: {}", this.counts);
	}

	static List<String> differences(Object inRedis, Object inMemory) {
		if (inRedis.equals(inMemory)) {
			return List.of();
		}
		if (inRedis instanceof Decision decisionInRedis && inMemory instanceof Decision decisionInMemory) {
			return differences(decisionInRedis, decisionInMemory);
		}
		return List.of("in Redis " + inRedis, "in memory " + inMemory);
	}

	/** In place of two texts of hundreds of numbers each. */
	private static List<String> differences(Decision inRedis, Decision inMemory) {
		List<String> differences = new ArrayList<>();
		differences.add("allowed by Redis " + inRedis.allowed() + ", by memory " + inMemory.allowed());
		differences.add("blocked by Redis " + inRedis.blockedFor() + ", by memory " + inMemory.blockedFor());
		missing(inRedis, inMemory).forEach((status) -> differences.add("in Redis " + status));
		missing(inMemory, inRedis).forEach((status) -> differences.add("in memory " + status));
		for (String shadow : inMemory.shadows().keySet()) {
			Decision redis = inRedis.shadows().getOrDefault(shadow, Operation.NONE);
			Decision memory = inMemory.shadows().getOrDefault(shadow, Operation.NONE);
			if (!redis.equals(memory)) {
				differences.add("in shadow");
				differences.addAll(differences(redis, memory));
			}
		}
		return differences;
	}

	private static Stream<LimitStatus> missing(Decision one, Decision other) {
		return one.statuses().stream().filter((status) -> !other.statuses().contains(status));
	}

}
