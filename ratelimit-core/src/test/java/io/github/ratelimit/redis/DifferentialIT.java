package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.redis.connection.Carrier;
import io.github.ratelimit.redis.connection.OneConnection;
import io.github.ratelimit.redis.script.RedisKeys;
import io.github.ratelimit.redis.script.Scope;
import io.github.ratelimit.redis.script.ScriptCall;
import io.github.ratelimit.redis.script.Scripts;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestRedis;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeTry;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whatever happens, the store in Redis and the store in memory come to the same
 * decisions, remember the same and have the same blocks.
 */
class DifferentialIT {

	private static final Logger logger = LoggerFactory.getLogger(DifferentialIT.class);

	/**
	 * After so many operations, and at the end, all counts are compared; after the others
	 * those that the operation could change.
	 */
	private static final int ALL_AFTER = 5;

	/** After so many operations, as only long runs have, the log says how many so far. */
	private static final int TELL_AFTER = 200_000;

	private static final Map<String, Policy> POLICIES = OperationSequences.POLICIES.stream()
		.collect(Collectors.toMap(Policy::name, Function.identity()));

	private static final AtomicInteger TRIES = new AtomicInteger();

	private static final OneConnection CONNECTION = new OneConnection(TestRedis.uri());

	private static final String KEY_PREFIX = TestRedis.newKeyPrefix();

	private static final String START = "2026-03-01T12:00:20.123456Z";

	private static final ManualClock CLOCK = new ManualClock(START);

	/** All tries share it, because it keeps scripts that took long to compose. */
	private static final RateLimiter LIMITER = RedisRateLimiter.of(TestRedis.connections(), KEY_PREFIX)
		.withClock(CLOCK);

	private static final Scripts SCRIPTS = new Scripts(new RedisKeys(KEY_PREFIX), CONNECTION, CLOCK);

	/** How many operations there were, and how many met each algorithm. */
	private static final Map<String, LongAdder> COUNTS = new TreeMap<>();

	/** Almost every try has forms of its own, and old servers keep all scripts. */
	@BeforeTry
	void forgetScripts() {
		if (TRIES.incrementAndGet() % 50 == 0) {
			TestRedis.client().scriptFlush();
		}
	}

	@AfterContainer
	static void tellHowMuchWasCompared() {
		CONNECTION.close();
		logger.info("Compared without a difference: {}", COUNTS);
	}

	/**
	 * Shrunk to the end, which takes two minutes, because nobody can read so many steps.
	 */
	@Property(shrinking = ShrinkingMode.FULL)
	void redisAndMemoryComeToTheSameDecisions(@ForAll("sequences") List<List<Operation>> sequences) {
		sequences.forEach(DifferentialIT::compare);
	}

	@Provide
	Arbitrary<List<List<Operation>>> sequences() {
		return OperationSequences.all();
	}

	/**
	 * Calls that wait at the same moment travel together, and each is decided for itself.
	 */
	@Property(shrinking = ShrinkingMode.FULL)
	void redisAndMemoryComeToTheSameDecisionsInBatches(@ForAll("batches") List<List<List<Operation>>> sequences) {
		sequences.forEach(DifferentialIT::compareBatches);
	}

	@Provide
	Arbitrary<List<List<List<Operation>>>> batches() {
		return OperationSequences.batches();
	}

	private static void compareBatches(List<List<Operation>> batches) {
		CLOCK.set(START);
		MemoryRateLimiter memory = new MemoryRateLimiter(CLOCK);
		List<Operation> checks = peek(policies(batches.stream().flatMap(List::stream).toList()));
		forgetCounts();
		for (List<Operation> batch : batches) {
			batch.forEach((operation) -> operation.pass(CLOCK, Operation.NONE));
			compareBatch(batch, batch, memory);
			compareBatch(checks, batch, memory);
			batch.forEach(DifferentialIT::count);
		}
	}

	/** Those of one script first, in their order, then those of the next. */
	private static void compareBatch(List<Operation> operations, List<Operation> batch, RateLimiter memory) {
		Map<Carrier, Map<ScriptCall, Operation>> groups = new LinkedHashMap<>();
		for (Operation operation : operations) {
			ScriptCall call = call(operation);
			if (call != null) {
				groups.computeIfAbsent(call.carrier(), (carrier) -> new LinkedHashMap<>()).put(call, operation);
			}
		}
		groups.values().forEach((group) -> {
			CONNECTION.submit(List.copyOf(group.keySet()));
			group.forEach((call, operation) -> {
				Object inRedis = call.answer().decision();
				Object inMemory = ask(memory, operation);
				assertThat(differences((inMemory != Operation.NONE) ? inRedis : Operation.NONE, inMemory))
					.as("%s in %s", operation, batch)
					.isEmpty();
			});
		});
	}

	private static @Nullable ScriptCall call(Operation operation) {
		if (operation instanceof Operation.Acquire acquire) {
			return call(io.github.ratelimit.redis.script.Operation.ACQUIRE, acquire.request());
		}
		if (operation instanceof Operation.Peek peek) {
			return call(io.github.ratelimit.redis.script.Operation.PEEK, peek.request());
		}
		if (operation instanceof Operation.Refund refund) {
			return call(io.github.ratelimit.redis.script.Operation.REFUND, refund.request());
		}
		return (operation instanceof Operation.Charged charged)
				? call(io.github.ratelimit.redis.script.Operation.CHARGE, charged.request().withPossibleCosts()) : null;
	}

	private static ScriptCall call(io.github.ratelimit.redis.script.Operation operation, RateLimitRequest request) {
		return SCRIPTS.call(operation, Scope.ALL, request, System.nanoTime() + TestRedis.PATIENCE.toNanos());
	}

	/** Without a look at what is left: others of the batch may have changed that. */
	private static Object ask(RateLimiter limiter, Operation operation) {
		if (operation instanceof Operation.Refund refund) {
			limiter.refund(refund.request());
			return Operation.NONE;
		}
		if (operation instanceof Operation.Charged charged) {
			limiter.charge(charged.request());
			return Operation.NONE;
		}
		return operation.ask(limiter);
	}

	/** Too rare to be met by chance. */
	@Example
	void redisAndMemoryAgreeOnAWindowThatWasEmptiedBeforeTheClockWasSetBack() {
		Policy policy = Policy.of("fw-1", new FixedWindow(), Limit.parse("5/s"), Limit.parse("9/10s"),
				Limit.parse("20/m"));
		RateLimitRequest request = RateLimitRequest.of(policy, Identifier.GLOBAL);
		compare(List.of(new Operation.Acquire(request), new Operation.Advance(Duration.ofSeconds(15)),
				new Operation.Acquire(request), new Operation.Refund(request),
				new Operation.Advance(Duration.ofSeconds(-14)), new Operation.Acquire(request)));
	}

	/** Days of 23, 24 and 25 hours, from their first microsecond to their last. */
	@Example
	void redisAndMemoryAgreeOnTheDaysOfAZone() {
		compareDays("Europe/Paris", "2026-03-28T23:00:00Z", "2026-10-23T22:00:00Z", "2026-10-24T22:00:00Z");
	}

	/** Days of 21, 22, 26 and 27 hours. */
	@Example
	void redisAndMemoryAgreeOnTheMostUnevenDays() {
		compareDays("Antarctica/Troll", "2026-03-29T00:00:00Z", "2026-10-23T22:00:00Z", "2026-10-24T22:00:00Z");
		compareDays("Antarctica/Casey", "2022-03-10T13:00:00Z", "2022-03-11T13:00:00Z", "2022-10-01T13:00:00Z");
	}

	private static void compareDays(String zone, String... midnights) {
		Policy policy = Policy.of("zone", new FixedWindow(2, ZoneId.of(zone)), Limit.parse("3/d"));
		RateLimitRequest request = RateLimitRequest.of(policy, Identifier.GLOBAL);
		for (String midnight : midnights) {
			List<Operation> operations = new ArrayList<>();
			for (int day = 0; day < 3; day++) {
				operations.add(new Operation.Acquire(request));
				operations
					.add(new Operation.Acquire(RateLimitRequest.of(Charge.of(policy, Identifier.GLOBAL).withCost(3))));
				operations.add(new Operation.AwaitRetry(-1));
				operations.add(new Operation.Acquire(request));
				operations.add(new Operation.Advance(Duration.ofNanos(1000)));
			}
			compare(midnight, operations);
		}
	}

	private static void compare(List<Operation> operations) {
		compare(START, operations);
	}

	private static void compare(String start, List<Operation> operations) {
		CLOCK.set(start);
		RateLimiter memory = new MemoryRateLimiter(CLOCK);
		List<Policy> all = policies(operations);
		forgetCounts();
		Decision last = Operation.NONE;
		int step = 0;
		for (Operation operation : operations) {
			operation.pass(CLOCK, last);
			Object inMemory = operation.ask(memory);
			assertThat(differences(operation.ask(LIMITER), inMemory)).as("step %d: %s", step, operation).isEmpty();
			boolean compareAll = step % ALL_AFTER == ALL_AFTER - 1;
			for (Operation check : peek(compareAll ? all : policies(List.of(operation)))) {
				assertThat(differences(check.ask(LIMITER), check.ask(memory))).as("after step %d: %s", step, operation)
					.isEmpty();
			}
			last = Operation.decision(inMemory).orElse(last);
			step++;
			count(operation);
		}
		for (Operation check : finalChecks(all)) {
			assertThat(differences(check.ask(LIMITER), check.ask(memory))).as("at the end: %s", check).isEmpty();
		}
	}

	/** So that no try has anything of the one before, which may have failed. */
	private static void forgetCounts() {
		Set<String> keys = TestRedis.client().keys(KEY_PREFIX + ":*");
		if (!keys.isEmpty()) {
			TestRedis.client().del(keys.toArray(String[]::new));
		}
	}

	/**
	 * What the operations count with, in one order, with the quotas that they have
	 * mostly.
	 */
	private static List<Policy> policies(List<Operation> operations) {
		return operations.stream()
			.flatMap((operation) -> operation.policies().stream())
			.map((policy) -> POLICIES.getOrDefault(policy.name(), policy))
			.distinct()
			.sorted(Comparator.comparing(Policy::name))
			.toList();
	}

	/** The status of all that is counted. */
	private static List<Operation> peek(List<Policy> policies) {
		if (policies.isEmpty()) {
			return List.of();
		}
		return List.of(new Operation.Peek(new RateLimitRequest(
				policies.stream().map((policy) -> new Charge(policy, OperationSequences.IDENTIFIERS, 1)).toList())));
	}

	/** The status of all that is counted, what is remembered, and who is blocked. */
	private static List<Operation> finalChecks(List<Policy> policies) {
		List<Operation> checks = new ArrayList<>(peek(policies));
		for (Policy policy : policies) {
			OperationSequences.IDENTIFIERS
				.forEach((identifier) -> checks.add(new Operation.ReadHistory(policy, identifier)));
		}
		checks.add(new Operation.ListBlocks());
		return checks;
	}

	private static void count(Operation operation) {
		LongAdder all = COUNTS.computeIfAbsent("all", (name) -> new LongAdder());
		all.increment();
		operation.policies()
			.stream()
			.map((policy) -> policy.algorithm().name())
			.distinct()
			.forEach((name) -> COUNTS.computeIfAbsent(name, (key) -> new LongAdder()).increment());
		if (all.sum() % TELL_AFTER == 0) {
			logger.info("Compared so far: {}", COUNTS);
		}
	}

	private static List<String> differences(Object inRedis, Object inMemory) {
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
		for (int i = 0; i < Math.max(inRedis.statuses().size(), inMemory.statuses().size()); i++) {
			LimitStatus redis = (i < inRedis.statuses().size()) ? inRedis.statuses().get(i) : null;
			LimitStatus memory = (i < inMemory.statuses().size()) ? inMemory.statuses().get(i) : null;
			if (!Objects.equals(redis, memory)) {
				differences.add("in Redis " + redis + ", in memory " + memory);
			}
		}
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

}
