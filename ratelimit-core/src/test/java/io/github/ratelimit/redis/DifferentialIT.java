package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.TestRedis;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.Tuple;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whatever happens, the store in Redis and the store in memory come to the same
 * decisions.
 */
class DifferentialIT {

	private static final List<Identifier> IDENTIFIERS = List.of(Identifier.user("alice"), Identifier.ip("203.0.113.7"),
			Identifier.GLOBAL);

	/** One policy for each algorithm and each of these sets of limits. */
	private static final List<List<String>> LIMITS = List.of(List.of("3/m"), List.of("5/s", "9/10s", "20/m"),
			List.of("2/ms", "4/7ms"), List.of("3/s", "6/d"));

	private static final List<Algorithm> ALGORITHMS = Stream
		.concat(RateLimiterContract.algorithms(), RateLimiterContract.variants())
		.toList();

	private static final List<Policy> POLICIES = ALGORITHMS.stream()
		.flatMap((algorithm) -> LIMITS.stream()
			.filter((limits) -> !hasZone(algorithm) || limits.contains("6/d"))
			.map((limits) -> policy(algorithm, limits)))
		.toList();

	private static final RateLimitRequest EVERYTHING = new RateLimitRequest(
			POLICIES.stream().map((policy) -> new Charge(policy, IDENTIFIERS, 1)).toList());

	private static final List<Duration> WINDOWS = POLICIES.stream()
		.flatMap((policy) -> policy.limits().stream())
		.map(Limit::window)
		.distinct()
		.toList();

	/** A zone is refused where there is no window of whole days. */
	private static boolean hasZone(Algorithm algorithm) {
		return algorithm instanceof FixedWindow fixed && fixed.zone() != ZoneOffset.UTC;
	}

	/** Every other one counts denied requests. */
	private static Policy policy(Algorithm algorithm, List<String> limits) {
		int number = ALGORITHMS.indexOf(algorithm) * LIMITS.size() + LIMITS.indexOf(limits);
		return new Policy(algorithm.code() + "-" + number, algorithm, limits.stream().map(Limit::parse).toList(),
				number % 2 == 1);
	}

	/** Shrunk to the end, which takes a minute, because nobody can read 30 steps. */
	@Property(shrinking = ShrinkingMode.FULL)
	void redisAndMemoryComeToTheSameDecisions(@ForAll("sequences") List<Operation> operations) {
		compare(operations);
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

	private static void compare(List<Operation> operations) {
		ManualClock clock = new ManualClock("2026-03-01T12:00:20.123456Z");
		RateLimiter redis = RedisRateLimiter.of(TestRedis.client(), TestRedis.newKeyPrefix()).withClock(clock);
		RateLimiter memory = new MemoryRateLimiter(clock);
		Decision last = Operation.NONE;
		int step = 0;
		for (Operation operation : operations) {
			operation.pass(clock, last);
			Decision inMemory = operation.ask(memory);
			assertThat(differences(operation.ask(redis), inMemory)).as("step %d: %s", step, operation).isEmpty();
			assertThat(differences(redis.peek(EVERYTHING), memory.peek(EVERYTHING)))
				.as("after step %d: %s", step, operation)
				.isEmpty();
			last = (inMemory != Operation.NONE) ? inMemory : last;
			step++;
		}
	}

	/** In place of two texts of hundreds of numbers each. */
	private static List<String> differences(Decision inRedis, Decision inMemory) {
		if (inRedis.equals(inMemory)) {
			return List.of();
		}
		List<String> differences = new ArrayList<>();
		differences.add("allowed by Redis " + inRedis.allowed() + ", by memory " + inMemory.allowed());
		for (int i = 0; i < Math.max(inRedis.statuses().size(), inMemory.statuses().size()); i++) {
			LimitStatus redis = (i < inRedis.statuses().size()) ? inRedis.statuses().get(i) : null;
			LimitStatus memory = (i < inMemory.statuses().size()) ? inMemory.statuses().get(i) : null;
			if (!Objects.equals(redis, memory)) {
				differences.add("in Redis " + redis + ", in memory " + memory);
			}
		}
		return differences;
	}

	@Provide
	Arbitrary<List<Operation>> sequences() {
		Arbitrary<Operation> operations = Arbitraries.frequencyOf(Tuple.of(10, requests().map(Operation.Acquire::new)),
				Tuple.of(1, requests().map(Operation.Peek::new)), Tuple.of(2, requests().map(Operation.Refund::new)),
				Tuple.of(1,
						Combinators.combine(Arbitraries.of(POLICIES), Arbitraries.of(IDENTIFIERS))
							.as(Operation.Reset::new)),
				Tuple.of(4, times().map(Operation.Advance::new)),
				Tuple.of(2,
						Combinators.combine(Arbitraries.of(WINDOWS), Arbitraries.of(0L, -1L, 1L))
							.as(Operation.AdvanceToEdge::new)),
				Tuple.of(3, Arbitraries.of(0L, -1L, 1L).map(Operation.AwaitRetry::new)));
		return operations.list().ofMaxSize(60).withSizeDistribution(RandomDistribution.uniform()).withoutEdgeCases();
	}

	private static Arbitrary<RateLimitRequest> requests() {
		return Arbitraries.of(POLICIES)
			.set()
			.ofMinSize(1)
			.ofMaxSize(3)
			.flatMap((policies) -> Combinators.combine(policies.stream().map(DifferentialIT::charges).toList())
				.as(RateLimitRequest::new));
	}

	private static Arbitrary<Charge> charges(Policy policy) {
		return withQuotas(policy)
			.flatMap((present) -> Combinators.combine(Arbitraries.of(IDENTIFIERS).set().ofMinSize(1), costs(present))
				.as((identifiers, cost) -> new Charge(present, List.copyOf(identifiers), cost)));
	}

	/**
	 * Mostly the policy as it is; sometimes with other quotas, on the same Redis keys.
	 */
	private static Arbitrary<Policy> withQuotas(Policy policy) {
		long most = (policy.algorithm() instanceof SlidingWindow) ? SlidingWindow.MAX_SUB_WINDOWS
				: policy.algorithm().maxQuota();
		Arbitrary<Long> quotas = Arbitraries.frequencyOf(Tuple.of(9, Arbitraries.longs().between(0, 12)),
				Tuple.of(1, Arbitraries.of(most, most - 1)));
		Arbitrary<Policy> changed = quotas.list().ofSize(policy.limits().size()).map((numbers) -> {
			List<Limit> limits = new ArrayList<>();
			for (int i = 0; i < numbers.size(); i++) {
				limits.add(Limit.of(numbers.get(i), policy.limits().get(i).window()));
			}
			return new Policy(policy.name(), policy.algorithm(), limits, policy.countDenied());
		});
		return Arbitraries.frequencyOf(Tuple.of(4, Arbitraries.just(policy)), Tuple.of(1, changed));
	}

	private static Arbitrary<Long> costs(Policy policy) {
		long quota = policy.limits().stream().mapToLong(Limit::quota).min().orElseThrow();
		return Arbitraries.frequencyOf(Tuple.of(6, Arbitraries.just(1L)),
				Tuple.of(3, Arbitraries.longs().between(0, Math.min(quota, 12) + 1)),
				Tuple.of(1, Arbitraries.of(quota, quota + 1, Limit.MAX_QUOTA, Limit.MAX_QUOTA + 2, Long.MAX_VALUE)));
	}

	private static Arbitrary<Duration> times() {
		Duration micro = Duration.of(1, ChronoUnit.MICROS);
		Stream<Duration> edges = WINDOWS.stream()
			.flatMap((window) -> Stream.of(window, window.plus(micro), window.minus(micro), window.multipliedBy(2)));
		Stream<Duration> back = WINDOWS.stream()
			.flatMap((window) -> Stream.of(window.negated(), window.plus(micro).negated(), window.dividedBy(-2)));
		Arbitrary<Duration> upToTwoWindows = Arbitraries.of(WINDOWS)
			.flatMap((window) -> Arbitraries.longs().between(0, 2 * window.toNanos() / 1000))
			.map((micros) -> Duration.of(micros, ChronoUnit.MICROS));
		return Arbitraries.frequencyOf(Tuple.of(2, Arbitraries.of(Duration.ZERO, micro)),
				Tuple.of(3, Arbitraries.of(edges.toList())), Tuple.of(3, upToTwoWindows),
				Tuple.of(2, Arbitraries.of(back.toList())),
				Tuple.of(1, Arbitraries.of(micro.negated(), Duration.ofDays(-40), Duration.ofDays(400))));
	}

}
