package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.PenaltyListener;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.DirectServers;
import io.github.ratelimit.redis.connection.Servers;
import io.github.ratelimit.redis.script.RedisKeys;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.PipelineContract;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Plain commands on one server.
 */
class PipelineRateLimiterIT extends PipelineContracts {

	/** On a busy machine an answer may take long. */
	private static final Duration BUDGET = Duration.ofSeconds(5);

	private static final Servers SERVERS = DirectServers.create();

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Identifier ADDRESS = Identifier.ip("203.0.113.7");

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:20Z");

	static Stream<Algorithm> algorithms() {
		return PipelineContract.algorithms();
	}

	@Override
	public RateLimiter create(InstantSource clock, PenaltyListener listener) {
		return create(clock);
	}

	private static RateLimiter create(InstantSource clock) {
		return create(TestRedis.newKeyPrefix()).withClock(clock);
	}

	/** By the clock of this process. */
	static PipelineRateLimiter create(String keyPrefix) {
		return create(SERVERS, keyPrefix);
	}

	static PipelineRateLimiter create(Servers servers, String keyPrefix) {
		return new PipelineRateLimiter(new io.github.ratelimit.redis.pipeline.PlainCommands(servers, BUDGET,
				() -> System.nanoTime() + BUDGET.toNanos(), new RedisKeys(keyPrefix)));
	}

	static Stream<Algorithm> unsupportedAlgorithms() {
		return RateLimiterContract.algorithms().filter((algorithm) -> algorithms().noneMatch(algorithm::equals));
	}

	@ParameterizedTest
	@MethodSource("unsupportedAlgorithms")
	void otherAlgorithmIsRefused(Algorithm algorithm) {
		RateLimiter limiter = create(this.clock);
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		RateLimitRequest request = RateLimitRequest.of(policy, ALICE);
		String message = "Invalid algorithm (%s): must be one of fixed-window, first-request-window, sliding-window, sliding-window-counter where scripts are not used."
			.formatted(algorithm.name());
		assertThatIllegalArgumentException().isThrownBy(() -> create(this.clock).requireSupported(policy))
			.withMessage(message);
		assertThatIllegalArgumentException().isThrownBy(() -> limiter.tryAcquire(request)).withMessage(message);
		assertThatIllegalArgumentException().isThrownBy(() -> limiter.peek(request)).withMessage(message);
		assertThatIllegalArgumentException().isThrownBy(() -> limiter.refund(request)).withMessage(message);
		assertThatIllegalArgumentException().isThrownBy(() -> limiter.reset(policy, ALICE)).withMessage(message);
	}

	@Test
	void penaltiesAreRefused() {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("5/m"))
			.withPenalty(new Penalty(1, Duration.ofHours(1), Duration.ofHours(1), Duration.ofHours(2)));
		assertThatIllegalArgumentException().isThrownBy(() -> create(this.clock).requireSupported(policy))
			.withMessage("Invalid policy (api): the store does not support penalties.");
	}

	@Test
	void windowsThatAreKeptAreRefused() {
		Policy policy = Policy.of("api", new FixedWindow(3, ZoneOffset.UTC), Limit.parse("5/m"));
		assertThatIllegalArgumentException().isThrownBy(() -> create(this.clock).requireSupported(policy))
			.withMessage("Invalid retain (3): no past windows can be kept where scripts are not used.");
	}

	@Test
	void tooManySubWindowsAreRefused() {
		Algorithm algorithm = new SlidingWindow(Duration.ofMillis(10));
		create(this.clock).requireSupported(Policy.of("api", algorithm, Limit.parse("5/9s")));
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/s"), Limit.parse("5/m"));
		assertThatIllegalArgumentException().isThrownBy(() -> create(this.clock).requireSupported(policy))
			.withMessage(
					"Invalid precision (10ms): the window of 5/m would have 6000 sub-windows, more than the 1000 that can be read without scripting; set a longer precision.");
	}

	@Test
	void requestsThatReadManyCountsAreDecidedInSeveralTransactions() {
		AtomicInteger transactions = new AtomicInteger();
		RateLimiter limiter = create(counting(transactions), TestRedis.newKeyPrefix()).withClock(this.clock);
		Policy policy = Policy.of("api", new SlidingWindow(Duration.ofMillis(10)), Limit.parse("5/9s"),
				Limit.parse("8/9500ms"));
		assertThat(limiter.tryAcquire(policy, Identifier.user("u0")).allowed()).isTrue();
		assertThat(transactions).hasValue(1);
		for (int i = 0; i < 4; i++) {
			assertThat(limiter.tryAcquire(of(policy, 9)).allowed()).isTrue();
		}
		// Each identifier has two limits of some 1,500 sub-windows, with this budget.
		assertThat(transactions).hasValue(1 + 4 * 9);
		Decision denied = limiter.tryAcquire(of(policy, 9));
		assertThat(denied.violated()).extracting(LimitStatus::identifier).containsExactly(Identifier.user("u0"));
		assertThat(limiter.peek(of(policy, 9)).statuses()).extracting(LimitStatus::remaining)
			.startsWith(0L, 3L, 1L, 4L)
			.endsWith(1L, 4L);
		limiter.refund(of(policy, 9));
		assertThat(limiter.tryAcquire(of(policy, 9)).allowed()).isTrue();
	}

	private static Servers counting(AtomicInteger calls) {
		return new Servers() {

			@Override
			public void submit(Call call) {
				calls.incrementAndGet();
				SERVERS.submit(call);
			}

			@Override
			public void close() {
			}

		};
	}

	private static RateLimitRequest of(Policy policy, int identifiers) {
		return RateLimitRequest.of(policy,
				IntStream.range(0, identifiers).mapToObj((i) -> Identifier.user("u" + i)).toArray(Identifier[]::new));
	}

	/** "3 Rate Limiting Patterns with Redis: Sliding Window aggregation". */
	@Test
	void quotasOfSeveralWindowsAreCountedBySecond() {
		RateLimiter limiter = create(this.clock);
		Policy policy = Policy.of("api", new SlidingWindow(Duration.ofSeconds(1)), Limit.parse("1000/s"),
				Limit.parse("5000/10s"), Limit.parse("7000/15s"));
		for (int second = 0; second < 10; second += 2) {
			Decision decision = limiter.tryAcquire(policy, ALICE, 1000);
			assertThat(decision.allowed()).isTrue();
			assertThat(decision.statuses()).extracting(LimitStatus::remaining)
				.containsExactly(0L, 4000L - 500 * second, 6000L - 500 * second);
			this.clock.advance(Duration.ofSeconds(2));
		}
		Decision denied = limiter.tryAcquire(policy, ALICE, 1000);
		assertThat(denied.violated()).extracting(LimitStatus::limit).containsExactly(Limit.parse("5000/10s"));
		assertThat(denied.retryAfter()).contains(Duration.ofSeconds(1));
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(limiter.tryAcquire(policy, ALICE, 1000).allowed()).isTrue();
		assertThat(limiter.peek(RateLimitRequest.of(policy, ALICE)).violated()).extracting(LimitStatus::limit)
			.containsExactly(Limit.parse("1000/s"), Limit.parse("5000/10s"));
		this.clock.advance(Duration.ofSeconds(2));
		assertThat(limiter.tryAcquire(policy, ALICE, 1000).allowed()).isTrue();
		Decision last = limiter.tryAcquire(RateLimitRequest.of(Charge.of(policy, ALICE).withCost(1)));
		assertThat(last.violated()).extracting(LimitStatus::limit)
			.containsExactly(Limit.parse("1000/s"), Limit.parse("5000/10s"), Limit.parse("7000/15s"));
	}

	@Test
	void daysBeginAtMidnightOfTheZone() {
		RateLimiter limiter = create(this.clock);
		Policy policy = Policy.of("api", new FixedWindow(1, ZoneId.of("Europe/Paris")), Limit.parse("1/d"));
		this.clock.set("2026-03-28T22:59:59Z");
		assertThat(limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
		assertThat(limiter.tryAcquire(policy, ALICE).retryAfter()).contains(Duration.ofSeconds(1));
		this.clock.set("2026-03-28T23:00:00Z");
		assertThat(limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
		assertThat(limiter.tryAcquire(policy, ALICE).retryAfter()).contains(Duration.ofHours(23));
	}

	@Test
	void impossibleCostInShadowModeBeginsNoWindow() {
		RateLimiter limiter = create(this.clock);
		Policy policy = Policy.of("api", new FirstRequestWindow(), Limit.parse("3/m"));
		limiter.tryAcquire(RateLimitRequest.of(new Charge(policy, List.of(ALICE), 4, true)));
		this.clock.advance(Duration.ofSeconds(30));
		assertThat(limiter.tryAcquire(policy, ALICE, 3).allowed()).isTrue();
		assertThat(limiter.tryAcquire(policy, ALICE).retryAfter()).contains(Duration.ofMinutes(1));
	}

	@Test
	void identifiersOfOneRequestHaveCountsOfTheirOwn() {
		RateLimiter limiter = create(this.clock);
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("2/m"));
		limiter.tryAcquire(policy, ALICE);
		assertThat(limiter.tryAcquire(RateLimitRequest.of(policy, ALICE, ADDRESS)).allowed()).isTrue();
		assertThat(limiter.tryAcquire(RateLimitRequest.of(policy, ALICE, ADDRESS)).allowed()).isFalse();
		assertThat(List.of(remaining(limiter, policy, ALICE), remaining(limiter, policy, ADDRESS))).containsExactly(0L,
				1L);
	}

	private static long remaining(RateLimiter limiter, Policy policy, Identifier identifier) {
		return limiter.peek(RateLimitRequest.of(policy, identifier)).statuses().get(0).remaining();
	}

}
