package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Algorithm;
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
import io.github.ratelimit.redis.connection.DirectServers;
import io.github.ratelimit.redis.connection.Servers;
import io.github.ratelimit.redis.script.RedisKeys;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.PipelineContract;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
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

	static Stream<Arguments> unsupportedPolicies() {
		return Stream.of(
				Arguments.of(
						Policy.of("api", new FixedWindow(), Limit.parse("5/m"))
							.withPenalty(new Penalty(1, Duration.ofHours(1), Duration.ofHours(1), Duration.ofHours(2))),
						"Invalid policy (api): the store does not support penalties."),
				Arguments.of(Policy.of("api", new FixedWindow(3, ZoneOffset.UTC), Limit.parse("5/m")),
						"Invalid retain (3): no past windows can be kept where scripts are not used."),
				Arguments.of(
						Policy.of("api", new SlidingWindow(Duration.ofMillis(10)), Limit.parse("5/s"),
								Limit.parse("5/m")),
						"Invalid precision (10ms): the window of 5/m would have 6000 sub-windows, more than the 1000 that can be read without scripting; set a longer precision."));
	}

	@ParameterizedTest
	@MethodSource("unsupportedPolicies")
	void whatPlainCommandsCannotExpressIsRefused(Policy policy, String message) {
		assertThatIllegalArgumentException().isThrownBy(() -> create(this.clock).requireSupported(policy))
			.withMessage(message);
	}

	@Test
	void requestsThatReadManyCountsAreDecidedInSeveralTransactions() {
		DirectServers servers = DirectServers.create();
		RateLimiter limiter = create(servers, TestRedis.newKeyPrefix()).withClock(this.clock);
		Policy policy = Policy.of("api", new SlidingWindow(Duration.ofMillis(10)), Limit.parse("5/9s"),
				Limit.parse("8/9500ms"));
		assertThat(limiter.tryAcquire(policy, Identifier.user("u0")).allowed()).isTrue();
		assertThat(servers.count()).isEqualTo(1);
		for (int i = 0; i < 4; i++) {
			assertThat(limiter.tryAcquire(of(policy, 9)).allowed()).isTrue();
		}
		// Each identifier has two limits of some 1,500 sub-windows, with this budget.
		assertThat(servers.count()).isEqualTo(4 * 9);
		Decision denied = limiter.tryAcquire(of(policy, 9));
		assertThat(denied.violated()).extracting(LimitStatus::identifier).containsExactly(Identifier.user("u0"));
		assertThat(limiter.peek(of(policy, 9)).statuses()).extracting(LimitStatus::remaining)
			.startsWith(0L, 3L, 1L, 4L)
			.endsWith(1L, 4L);
		limiter.refund(of(policy, 9));
		assertThat(limiter.tryAcquire(of(policy, 9)).allowed()).isTrue();
	}

	private static RateLimitRequest of(Policy policy, int identifiers) {
		return RateLimitRequest.of(policy,
				IntStream.range(0, identifiers).mapToObj((i) -> Identifier.user("u" + i)).toArray(Identifier[]::new));
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

}
