package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.redis.connection.Codec;
import io.github.ratelimit.redis.connection.DirectServers;
import io.github.ratelimit.redis.script.RedisKeys;
import io.github.ratelimit.redis.script.Scope;
import io.github.ratelimit.redis.script.ScriptCall;
import io.github.ratelimit.redis.script.Scripts;
import io.github.ratelimit.redis.script.template.Composer;
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

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whatever happens, the store in Redis and the store in memory come to the same
 * decisions, remember the same and have the same blocks.
 */
class DifferentialIT {

	private static final AtomicInteger TRIES = new AtomicInteger();

	private static final DirectServers CONNECTION = DirectServers.create();

	private static final String KEY_PREFIX = TestRedis.newKeyPrefix();

	private static final String START = "2026-03-01T12:00:20.123456Z";

	private static final ManualClock CLOCK = new ManualClock(START);

	private static final Comparison COMPARISON = new Comparison(
			RedisRateLimiter.of(TestRedis.connections(), KEY_PREFIX), CLOCK);

	private static final Scripts SCRIPTS = new Scripts(new RedisKeys(KEY_PREFIX), CONNECTION, CLOCK, Composer::compose);

	/** Almost every try has forms of its own, and old servers keep all scripts. */
	@BeforeTry
	void forgetScripts() {
		if (TRIES.incrementAndGet() % 50 == 0) {
			TestRedis.client().scriptFlush();
		}
	}

	@AfterContainer
	static void tellHowMuchWasCompared() {
		COMPARISON.tellHowMuchWasCompared();
	}

	/**
	 * Shrunk to the end, which takes two minutes, because nobody can read so many steps.
	 */
	@Property(shrinking = ShrinkingMode.FULL)
	void redisAndMemoryComeToTheSameDecisions(@ForAll("sequences") List<List<Operation>> sequences) {
		sequences.forEach((operations) -> compare(START, operations));
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
		List<Operation> checks = Comparison.peek(Comparison.policies(batches.stream().flatMap(List::stream).toList()));
		forgetCounts();
		for (List<Operation> batch : batches) {
			batch.forEach((operation) -> operation.pass(CLOCK, Operation.NONE));
			compareBatch(batch, batch, memory);
			compareBatch(checks, batch, memory);
			batch.forEach(COMPARISON::count);
		}
	}

	/** Those of one script first, in their order, then those of the next. */
	private static void compareBatch(List<Operation> operations, List<Operation> batch, RateLimiter memory) {
		Map<Codec, Map<ScriptCall, Operation>> groups = new LinkedHashMap<>();
		for (Operation operation : operations) {
			Operation.Single single = operation.single();
			if (single != null) {
				ScriptCall call = SCRIPTS.call(single.operation(), Scope.ALL, single.request(),
						System.nanoTime() + TestRedis.PATIENCE.toNanos());
				groups.computeIfAbsent(call.codec(), (codec) -> new LinkedHashMap<>()).put(call, operation);
			}
		}
		groups.values().forEach((group) -> {
			CONNECTION.submit(List.copyOf(group.keySet()));
			group.forEach((call, operation) -> {
				Object inRedis = call.answer().decision();
				Object inMemory = operation.ask(memory, CLOCK);
				// What is left after a refund may have been changed by others of the
				// batch.
				if (operation.single().decides()) {
					assertThat(Comparison.differences(inRedis, inMemory)).as("%s in %s", operation, batch).isEmpty();
				}
			});
		});
	}

	/** Too rare to be met by chance. */
	@Example
	void emptiedWindowIsTheSameWhenClockIsSetBack() {
		Policy policy = Policy.of("fw-1", new FixedWindow(), Limit.parse("5/s"), Limit.parse("9/10s"),
				Limit.parse("20/m"));
		RateLimitRequest request = RateLimitRequest.of(policy, Identifier.GLOBAL);
		Operation acquire = Operation.acquire(request);
		compare(START, List.of(acquire, Operation.advance(Duration.ofSeconds(15)), acquire, Operation.refund(request),
				Operation.advance(Duration.ofSeconds(-14)), acquire));
	}

	/** Days of 21 to 27 hours, from their first microsecond to their last. */
	@Example
	void redisAndMemoryAgreeOnUnevenDays() {
		compareDays("Europe/Paris", "2026-03-28T23:00:00Z", "2026-10-23T22:00:00Z", "2026-10-24T22:00:00Z");
		compareDays("Antarctica/Troll", "2026-03-29T00:00:00Z", "2026-10-23T22:00:00Z", "2026-10-24T22:00:00Z");
		compareDays("Antarctica/Casey", "2022-03-10T13:00:00Z", "2022-03-11T13:00:00Z", "2022-10-01T13:00:00Z");
	}

	private static void compareDays(String zone, String... midnights) {
		Policy policy = Policy.of("zone", new FixedWindow(2, ZoneId.of(zone)), Limit.parse("3/d"));
		Charge charge = Charge.of(policy, Identifier.GLOBAL);
		Operation acquire = Operation.acquire(RateLimitRequest.of(charge));
		List<Operation> day = List.of(acquire, Operation.acquire(RateLimitRequest.of(charge.withCost(3))),
				Operation.awaitRetry(-1), acquire, Operation.advance(Duration.ofNanos(1000)));
		for (String midnight : midnights) {
			compare(midnight, Stream.of(day, day, day).flatMap(List::stream).toList());
		}
	}

	private static void compare(String start, List<Operation> operations) {
		forgetCounts();
		COMPARISON.compare(start, operations);
	}

	/** So that no try has anything of the one before, which may have failed. */
	private static void forgetCounts() {
		Set<String> keys = TestRedis.client().keys(KEY_PREFIX + ":*");
		if (!keys.isEmpty()) {
			TestRedis.client().del(keys.toArray(String[]::new));
		}
	}

}
