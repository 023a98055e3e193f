package io.github.ratelimit.redis.script;

import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.LeakyBucket;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.algorithm.SlidingWindowCounter.Rounding;
import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.redis.connection.OneConnection;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestRedis;
import io.github.ratelimit.redis.script.template.Composer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests of many policies, whose algorithms have all kinds of options: more functions
 * than a function of Lua may refer to.
 */
class ManyPoliciesIT {

	private static final OneConnection SERVERS = new OneConnection(TestRedis.uri());

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Identifier BOB = Identifier.user("bob");

	private static final List<Algorithm> ALGORITHMS = List.of(new SlidingLog(), new SlidingLog(true),
			new SlidingWindow(), new SlidingWindow(Duration.ofMillis(1)), new SlidingWindow(Duration.ofMillis(20)),
			new SlidingWindow(Duration.ofMillis(50)), new FixedWindow(), new FirstRequestWindow(),
			new FixedWindow(3, ZoneOffset.UTC), new FixedWindow(2, ZoneId.of("Europe/Paris")),
			new SlidingWindowCounter(), new SlidingWindowCounter(0.3, Rounding.DOWN),
			new SlidingWindowCounter(0, Rounding.NONE), new SlidingWindowCounter(1, Rounding.UP), new LeakyBucket(),
			new TokenBucket(), new TokenBucket(40L));

	private final Random random = new Random(7);

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:20.123456Z");

	private final MemoryRateLimiter memory = new MemoryRateLimiter(this.clock);

	private final Scripts scripts = new Scripts(new RedisKeys(TestRedis.newKeyPrefix()), SERVERS, this.clock,
			Composer::compose);

	@AfterAll
	static void close() {
		SERVERS.close();
	}

	static Stream<Arguments> requests() {
		List<Policy> logs = new ArrayList<>(policies(ALGORITHMS.subList(0, 5), "30/s"));
		logs.add(policy("large", new SlidingLog(), "3000/m"));
		List<Policy> all = policies(ALGORITHMS, "20/s", "90/d");
		List<Policy> most = new ArrayList<>(policies(ALGORITHMS, "20/s", "30/10s", "90/m", "800/d"));
		most.addAll(List.of(policy("zone", new FixedWindow(3, ZoneId.of("Europe/Paris")), "90/d"),
				policy("large", new SlidingLog(), "3000/m").withCountDenied(true),
				policy("larger", new SlidingWindow(Duration.ofMillis(20)), "9000/m")));
		String[] limits = IntStream.rangeClosed(1, Policy.MAX_LIMITS)
			.mapToObj((i) -> "%d/%dd".formatted(10 + i, i))
			.toArray(String[]::new);
		List<Policy> large = policies(ALGORITHMS, limits);
		return Stream.concat(
				large.stream()
					.map((policy) -> Arguments.of(policy.algorithm() + " of many limits", List.of(policy),
							List.of(BOB))),
				Stream.of(Arguments.of("logs", logs, List.of(ALICE)),
						Arguments.of("8", all.subList(2, 10), List.of(BOB)),
						Arguments.of("12", all.subList(5, 17), List.of(ALICE)),
						Arguments.of("17", all, List.of(ALICE, BOB, Identifier.GLOBAL)),
						Arguments.of("20", most, List.of(ALICE, BOB)),
						Arguments.of("12 of many limits", large.subList(5, 17), List.of(ALICE))));
	}

	private static List<Policy> policies(List<Algorithm> algorithms, String... limits) {
		return IntStream.range(0, algorithms.size())
			.mapToObj((i) -> policy("policy-" + i, algorithms.get(i), limits).withCountDenied(i % 4 == 3))
			.toList();
	}

	private static Policy policy(String name, Algorithm algorithm, String... limits) {
		boolean oneLimit = algorithm instanceof TokenBucket bucket && bucket.burst() != null;
		return new Policy(name, algorithm,
				Stream.of(limits).limit(oneLimit ? 1 : limits.length).map(Limit::parse).toList());
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("requests")
	void redisAndMemoryDecideTheSame(String name, List<Policy> policies, List<Identifier> identifiers) {
		for (int round = 0; round < 60; round++) {
			Operation operation = List.of(Operation.ACQUIRE, Operation.PEEK, Operation.REFUND, Operation.CHARGE)
				.get(this.random.nextInt(4));
			List<RateLimitRequest> requests = IntStream.range(0, 1 + this.random.nextInt(3))
				.mapToObj((i) -> request(policies, identifiers))
				.toList();
			List<ScriptCall> calls = requests.stream()
				.map((request) -> this.scripts.call(operation, Scope.ALL, request, ScriptRateLimiter.deadline()))
				.toList();
			SERVERS.submit(calls);
			for (int i = 0; i < calls.size(); i++) {
				compare(operation, requests.get(i), calls.get(i).answer());
			}
			this.clock.advance(Duration.of(this.random.nextInt(900_000) - 60_000, ChronoUnit.MICROS));
		}
		policies.forEach((policy) -> compareHistory(policy, identifiers.get(0)));
	}

	/** Every other penalty is in shadow mode. The clock is not set back. */
	@ParameterizedTest(name = "{0}")
	@MethodSource("requests")
	void redisAndMemoryPenalizeTheSame(String name, List<Policy> policies, List<Identifier> identifiers) {
		List<Policy> strict = policies.stream()
			.map((policy) -> policy.withPenalty(new Penalty(2, Duration.ofSeconds(9), Duration.ofMillis(1500),
					Duration.ofSeconds(8), policies.indexOf(policy) % 2 == 0)))
			.toList();
		for (int round = 0; round < 40; round++) {
			List<RateLimitRequest> requests = IntStream.range(0, 1 + this.random.nextInt(3))
				.mapToObj((i) -> request(strict, identifiers))
				.toList();
			List<ScriptCall> calls = requests.stream()
				.map((request) -> this.scripts.call(Operation.ACQUIRE, Scope.ALL, request,
						ScriptRateLimiter.deadline()))
				.toList();
			SERVERS.submit(calls);
			for (int i = 0; i < calls.size(); i++) {
				compare(Operation.ACQUIRE, requests.get(i), calls.get(i).answer());
			}
			this.clock.advance(Duration.of(this.random.nextInt(900_000), ChronoUnit.MICROS));
		}
	}

	/** Every third policy is in shadow mode. */
	private RateLimitRequest request(List<Policy> policies, List<Identifier> identifiers) {
		return new RateLimitRequest(policies.stream()
			.map((policy) -> new Charge(policy, identifiers, this.random.nextInt(6), policies.indexOf(policy) % 3 == 2))
			.toList(), "request " + this.random.nextInt(100));
	}

	private void compare(Operation operation, RateLimitRequest request, Answer answer) {
		switch (operation) {
			case REFUND -> this.memory.refund(request);
			case CHARGE -> this.memory.charge(request);
			case PEEK -> assertThat(answer.decision()).isEqualTo(this.memory.peek(request));
			default -> assertThat(answer.penalized()).isEqualTo(this.memory.tryAcquire(request));
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("requests")
	void cancelledReservationIsGivenBack(String name, List<Policy> policies, List<Identifier> identifiers) {
		RateLimitRequest request = request(policies, identifiers);
		ScriptCall held = this.scripts.call(Operation.RESERVE, Scope.ALL, request, ScriptRateLimiter.deadline());
		SERVERS.submit(held);
		long reservedAt = held.answer().reservedAt();
		assertThat(held.answer().decision().allowed()).isTrue();
		ScriptCall canceled = this.scripts.cancel(request, Scope.ALL, (charge) -> -1, reservedAt,
				ScriptRateLimiter.deadline());
		SERVERS.submit(canceled);
		assertThat(canceled.answer().decision()).isEqualTo(this.memory.peek(request));
	}

	private void compareHistory(Policy policy, Identifier identifier) {
		ScriptCall call = this.scripts.history(policy, identifier, Integer.MAX_VALUE, null,
				ScriptRateLimiter.deadline());
		if (policy.algorithm().keepsEntries() || policy.algorithm().keepsWindows()) {
			SERVERS.submit(call);
		}
		if (policy.algorithm().keepsEntries()) {
			assertThat(call.entries()).isEqualTo(this.memory.entries(policy, identifier));
		}
		else if (policy.algorithm().keepsWindows()) {
			assertThat(call.series()).isEqualTo(this.memory.series(policy, identifier));
		}
	}

}
