package io.github.ratelimit.redis.script;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
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
import io.github.ratelimit.algorithm.SlidingWindowCounter.Rounding;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.redis.connection.Codec;
import io.github.ratelimit.redis.connection.DirectServers;
import io.github.ratelimit.redis.connection.Increment;
import io.github.ratelimit.redis.script.template.Composer;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.exceptions.JedisDataException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Requests in one batch are decided one after the other, as if each were sent alone; also
 * those of many policies, whose algorithms have all kinds of options: more functions than
 * a function of Lua may refer to.
 */
class BatchIT {

	private static final DirectServers SERVERS = DirectServers.create();

	private static final List<Identifier> IDENTIFIERS = List.of(Identifier.user("a"), Identifier.user("b"),
			Identifier.ip("203.0.113.7"));

	private static final List<Algorithm> ALGORITHMS = List.of(new SlidingLog(), new SlidingLog(true),
			new SlidingWindow(), new SlidingWindow(Duration.ofMillis(1)), new SlidingWindow(Duration.ofMillis(20)),
			new SlidingWindow(Duration.ofMillis(50)), new FixedWindow(), new FirstRequestWindow(),
			new FixedWindow(3, ZoneOffset.UTC), new FixedWindow(2, ZoneId.of("Europe/Paris")),
			new SlidingWindowCounter(), new SlidingWindowCounter(0.3, Rounding.DOWN),
			new SlidingWindowCounter(0, Rounding.NONE), new SlidingWindowCounter(1, Rounding.UP), new LeakyBucket(),
			new TokenBucket(), new TokenBucket(40L));

	private final Random random = new Random(42);

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:20.123456Z");

	private final MemoryRateLimiter memory = new MemoryRateLimiter(this.clock);

	private final RedisKeys keys = new RedisKeys(TestRedis.newKeyPrefix());

	private final Scripts scripts = new Scripts(this.keys, SERVERS, this.clock, Composer::compose);

	private final Blocks blocks = new Blocks(this.keys, SERVERS, this.clock);

	static Stream<Algorithm> algorithms() {
		return Stream.concat(RateLimiterContract.algorithms(),
				Stream.of(new FixedWindow(3, new FixedWindow().zone()), new QuietPeriod(0), new QuietPeriod(2)));
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void batchDecidesAsRequestsOneByOne(Algorithm algorithm) {
		Policy counting = new Policy("counting", algorithm, List.of(Limit.parse("7/s")), true);
		Policy api = Policy.of("api", algorithm, Limit.parse("5/s"), Limit.parse("9/10s"), Limit.parse("20/m"));
		for (int round = 0; round < 100; round++) {
			Operation operation = List
				.of(Operation.ACQUIRE, Operation.ACQUIRE, Operation.PEEK, Operation.REFUND, Operation.CHARGE)
				.get(this.random.nextInt(5));
			List<Charge> shape = IntStream.range(0, 1 + this.random.nextInt(2))
				.mapToObj((i) -> new Charge((i == 0) ? api : counting,
						IDENTIFIERS.subList(0, 1 + this.random.nextInt(IDENTIFIERS.size())), 1,
						this.random.nextInt(3) == 0))
				.toList();
			List<RateLimitRequest> requests = IntStream.range(0, 1 + this.random.nextInt(9))
				.mapToObj((i) -> request(shape))
				.toList();
			compare(operation, requests);
			this.clock.advance(Duration.of(this.random.nextInt(3_000_000) - 300_000, ChronoUnit.MICROS));
		}
	}

	/** The same identifiers in another order have the same shape. */
	private RateLimitRequest request(List<Charge> shape) {
		return new RateLimitRequest(shape.stream().map((charge) -> {
			int offset = this.random.nextInt(IDENTIFIERS.size());
			List<Identifier> identifiers = IntStream.range(0, charge.identifiers().size())
				.mapToObj((i) -> IDENTIFIERS.get((i + offset) % IDENTIFIERS.size()))
				.toList();
			return new Charge(charge.policy(), identifiers, this.random.nextInt(4), charge.shadow());
		}).toList());
	}

	private void compare(Operation operation, List<RateLimitRequest> requests) {
		Map<Codec, Map<ScriptCall, RateLimitRequest>> batches = new LinkedHashMap<>();
		for (RateLimitRequest request : requests) {
			ScriptCall call = call(operation, Scope.ALL, request);
			batches.computeIfAbsent(call.codec(), (codec) -> new LinkedHashMap<>()).put(call, request);
		}
		batches.values().forEach((batch) -> {
			SERVERS.submit(List.copyOf(batch.keySet()));
			batch.forEach((call, request) -> {
				switch (operation) {
					case REFUND -> this.memory.refund(request);
					case CHARGE -> this.memory.charge(request);
					case PEEK -> assertThat(call.answer().decision()).isEqualTo(this.memory.peek(request));
					default -> assertThat(call.answer().penalized()).as("%s", request)
						.isEqualTo(this.memory.tryAcquire(request));
				}
				assertThat(call.answer()).isNotNull();
			});
		});
	}

	/** The clock is not set back: one of the two might have forgotten ended blocks. */
	@ParameterizedTest
	@ValueSource(ints = { 1, 3, 7 })
	void batchPenalizesAsRequestsOneByOne(int most) {
		Policy api = Policy.of("api", new FixedWindow(), Limit.parse("2/s"), Limit.parse("9/m"))
			.withPenalty(new Penalty(3, Duration.ofSeconds(5), Duration.ofMillis(700), Duration.ofSeconds(4)));
		Policy counting = Policy.of("counting", new SlidingLog(), Limit.parse("3/s"))
			.withCountDenied(true)
			.withPenalty(new Penalty(2, Duration.ofSeconds(2), Duration.ofMillis(300), Duration.ofSeconds(9)));
		Policy plain = Policy.of("plain", new FixedWindow(), Limit.parse("5/s"));
		List<Identifier> users = IntStream.range(0, most).mapToObj((i) -> Identifier.user("u" + i)).toList();
		int blocked = 0;
		for (int round = 0; round < 300; round++) {
			boolean shadow = this.random.nextInt(4) == 0;
			List<RateLimitRequest> requests = IntStream.range(0, 1 + this.random.nextInt(9))
				.mapToObj((i) -> RateLimitRequest.of(new Charge(plain, users, this.random.nextInt(2)),
						new Charge(api, users, this.random.nextInt(3)),
						new Charge(counting, users.subList(0, 1 + most / 2), this.random.nextInt(2), shadow)))
				.toList();
			compare(Operation.ACQUIRE, requests);
			blocked += this.memory.blocks().size();
			this.clock.advance(Duration.of(this.random.nextInt(900_000), ChronoUnit.MICROS));
		}
		assertThat(blocked).isPositive();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void manyIdentifiersAreDecidedInLoops(Algorithm algorithm) {
		Policy policy = Policy.of("many", algorithm, Limit.parse("2/s"), Limit.parse("3/10s"), Limit.parse("4/m"));
		Policy other = new Policy("other", algorithm, List.of(Limit.parse("3/s")), true);
		Policy tried = Policy.of("tried", algorithm, Limit.parse("3/s"), Limit.parse("3/m"));
		List<Identifier> many = IntStream.range(0, 80).mapToObj((i) -> Identifier.user("u" + i)).toList();
		RateLimitRequest request = RateLimitRequest.of(new Charge(policy, many, 1),
				new Charge(tried, many.subList(57, 59), 1, true), new Charge(other, many.subList(50, 60), 1));
		for (int i = 0; i < 3; i++) {
			compare(Operation.ACQUIRE, List.of(request, request));
			compare(Operation.PEEK, List.of(request));
			this.clock.advance(Duration.ofMillis(700));
		}
		this.blocks.block(many.get(77), "many", Duration.ofSeconds(5), "", deadline());
		this.memory.block(many.get(77), "many", Duration.ofSeconds(5), "");
		compare(Operation.ACQUIRE, List.of(request));
	}

	@Test
	void errorOfOneRequestDoesNotAffectOthers() {
		Policy policy = Policy.of("api", new QuietPeriod(0), Limit.parse("10/s"));
		Identifier damaged = Identifier.user("damaged");
		TestRedis.client().set(this.keys.key(damaged, policy), "\u007f".repeat(14).getBytes(StandardCharsets.US_ASCII));
		List<ScriptCall> calls = Stream.of(Identifier.user("a"), damaged, Identifier.user("b"))
			.map((identifier) -> call(Operation.ACQUIRE, Scope.ALL, RateLimitRequest.of(policy, identifier)))
			.toList();
		SERVERS.submit(calls);
		assertThat(calls.get(0).answer().decision().allowed()).isTrue();
		assertThat(calls.get(2).answer().decision().allowed()).isTrue();
		assertThatExceptionOfType(JedisDataException.class).isThrownBy(calls.get(1)::answer)
			.withMessageStartingWith("ERR ")
			.withMessageContaining("a damaged count");
	}

	@Test
	void countsAndBlocksAreDecidedSeparately() {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("1/s"));
		Policy other = Policy.of("other", new FixedWindow(), Limit.parse("1/s"));
		Identifier identifier = IDENTIFIERS.get(0);
		this.blocks.block(identifier, "api", Duration.ofSeconds(9), "", deadline());
		assertThat(ask(Scope.ALL, RateLimitRequest.of(policy, identifier)).decision().allowed()).isFalse();
		assertThat(ask(Scope.COUNTS, RateLimitRequest.of(policy, identifier)).decision().allowed()).isTrue();
		Answer blocked = ask(Scope.BLOCKS,
				RateLimitRequest.of(Charge.of(other, identifier), Charge.of(policy, identifier)));
		assertThat(blocked).isEqualTo(new Answer(new Decision(false, List.of(), Duration.ofSeconds(9)), 0, List.of()));
		assertThat(ask(Scope.BLOCKS, RateLimitRequest.of(other, identifier)).decision().allowed()).isTrue();
	}

	private Answer ask(Scope scope, RateLimitRequest request) {
		return ask(call(Operation.ACQUIRE, scope, request)).answer();
	}

	private ScriptCall call(Operation operation, Scope scope, RateLimitRequest request) {
		return this.scripts.call(operation, scope, request, deadline());
	}

	private static long deadline() {
		return System.nanoTime() + Increment.LONG.toNanos();
	}

	private static ScriptCall ask(ScriptCall call) {
		SERVERS.submit(call);
		return call;
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
							IDENTIFIERS.subList(1, 2))),
				Stream.of(Arguments.of("logs", logs, IDENTIFIERS.subList(0, 1)),
						Arguments.of("8", all.subList(2, 10), IDENTIFIERS.subList(1, 2)),
						Arguments.of("12", all.subList(5, 17), IDENTIFIERS.subList(0, 1)),
						Arguments.of("17", all, IDENTIFIERS), Arguments.of("20", most, IDENTIFIERS.subList(0, 2)),
						Arguments.of("12 of many limits", large.subList(5, 17), IDENTIFIERS.subList(0, 1))));
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
	void manyPoliciesAreDecidedAsInMemory(String name, List<Policy> policies, List<Identifier> identifiers) {
		for (int round = 0; round < 60; round++) {
			Operation operation = List.of(Operation.ACQUIRE, Operation.PEEK, Operation.REFUND, Operation.CHARGE)
				.get(this.random.nextInt(4));
			compare(operation, batch(policies, identifiers));
			this.clock.advance(Duration.of(this.random.nextInt(900_000) - 60_000, ChronoUnit.MICROS));
		}
		policies.forEach((policy) -> compareHistory(policy, identifiers.get(0)));
	}

	/** Every other penalty is in shadow mode. The clock is not set back. */
	@ParameterizedTest(name = "{0}")
	@MethodSource("requests")
	void manyPoliciesPenalizeAsInMemory(String name, List<Policy> policies, List<Identifier> identifiers) {
		List<Policy> strict = policies.stream()
			.map((policy) -> policy.withPenalty(new Penalty(2, Duration.ofSeconds(9), Duration.ofMillis(1500),
					Duration.ofSeconds(8), policies.indexOf(policy) % 2 == 0)))
			.toList();
		for (int round = 0; round < 40; round++) {
			compare(Operation.ACQUIRE, batch(strict, identifiers));
			this.clock.advance(Duration.of(this.random.nextInt(900_000), ChronoUnit.MICROS));
		}
	}

	/** Every third policy is in shadow mode. */
	private List<RateLimitRequest> batch(List<Policy> policies, List<Identifier> identifiers) {
		return IntStream.range(0, 1 + this.random.nextInt(3))
			.mapToObj((i) -> new RateLimitRequest(policies.stream()
				.map((policy) -> new Charge(policy, identifiers, this.random.nextInt(6),
						policies.indexOf(policy) % 3 == 2))
				.toList(), "request " + this.random.nextInt(100)))
			.toList();
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("requests")
	void cancelledReservationIsGivenBack(String name, List<Policy> policies, List<Identifier> identifiers) {
		RateLimitRequest request = batch(policies, identifiers).get(0);
		Answer held = ask(call(Operation.RESERVE, Scope.ALL, request)).answer();
		assertThat(held.decision().allowed()).isTrue();
		Answer cancelled = ask(this.scripts.cancel(request, Scope.ALL, (charge) -> -1, held.reservedAt(), deadline()))
			.answer();
		assertThat(cancelled.decision()).isEqualTo(this.memory.peek(request));
	}

	private void compareHistory(Policy policy, Identifier identifier) {
		ScriptCall call = this.scripts.history(policy, identifier, Integer.MAX_VALUE, null, deadline());
		if (policy.algorithm().keepsEntries()) {
			assertThat(ask(call).entries()).isEqualTo(this.memory.entries(policy, identifier));
		}
		else if (policy.algorithm().keepsWindows()) {
			assertThat(ask(call).series()).isEqualTo(this.memory.series(policy, identifier));
		}
	}

}
