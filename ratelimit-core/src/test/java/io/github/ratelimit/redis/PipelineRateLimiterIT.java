package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
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
import io.github.ratelimit.test.PipelineContract;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.TestRedis;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class PipelineRateLimiterIT extends PipelineContracts {

	private final PipelineRateLimiter plain = PipelineFixture.create(TestRedis.newKeyPrefix());

	private final RateLimiter limiter = this.plain.withClock(this.clock);

	@Override
	public RateLimiter create(InstantSource clock, PenaltyListener listener) {
		return PipelineFixture.create(TestRedis.newKeyPrefix()).withClock(clock);
	}

	static Stream<Algorithm> unsupportedAlgorithms() {
		return RateLimiterContract.algorithms()
			.filter((algorithm) -> PipelineContract.algorithms().noneMatch(algorithm::equals));
	}

	@ParameterizedTest
	@MethodSource("unsupportedAlgorithms")
	void otherAlgorithmIsRefused(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/m");
		RateLimitRequest request = request(policy, 1);
		for (ThrowingCallable call : List.<ThrowingCallable>of(() -> this.plain.requireSupported(policy),
				() -> this.limiter.tryAcquire(request), () -> this.limiter.peek(request),
				() -> this.limiter.refund(request), () -> this.limiter.reset(policy, ALICE))) {
			assertThatIllegalArgumentException().isThrownBy(call)
				.withMessage(
						"Invalid algorithm (%s): must be one of fixed-window, first-request-window, "
								+ "sliding-window, sliding-window-counter where scripts are not used.",
						algorithm.name());
		}
	}

	static Stream<Arguments> unsupportedPolicies() {
		return Stream.of(
				Arguments.of(
						policy(new FixedWindow(), "5/m")
							.withPenalty(new Penalty(1, Duration.ofHours(1), Duration.ofHours(1), Duration.ofHours(2))),
						"Invalid policy (api): the store does not support penalties."),
				Arguments.of(policy(new FixedWindow(3, ZoneOffset.UTC), "5/m"),
						"Invalid retain (3): no past windows can be kept where scripts are not used."),
				Arguments.of(policy(new SlidingWindow(Duration.ofMillis(10)), "5/s", "5/m"),
						"Invalid precision (10ms): the window of 5/m would have 6000 sub-windows, more than the 1000 that can be read without scripting; set a longer precision."));
	}

	@ParameterizedTest
	@MethodSource("unsupportedPolicies")
	void whatPlainCommandsCannotExpressIsRefused(Policy policy, String message) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.plain.requireSupported(policy)).withMessage(message);
	}

	@Test
	void requestsThatReadManyCountsAreDecidedInSeveralTransactions() {
		DirectServers servers = DirectServers.create();
		RateLimiter counted = PipelineFixture.create(servers, TestRedis.newKeyPrefix()).withClock(this.clock);
		Policy policy = policy(new SlidingWindow(Duration.ofMillis(10)), "5/9s", "8/9500ms");
		assertThat(counted.tryAcquire(policy, Identifier.user("u0")).allowed()).isTrue();
		assertThat(servers.count()).isEqualTo(1);
		for (int i = 0; i < 4; i++) {
			assertThat(counted.tryAcquire(of(policy, 9)).allowed()).isTrue();
		}
		// Each identifier has two limits of some 1,500 sub-windows, with this budget.
		assertThat(servers.count()).isEqualTo(4 * 9);
		Decision denied = counted.tryAcquire(of(policy, 9));
		assertThat(denied.violated()).extracting(LimitStatus::identifier).containsExactly(Identifier.user("u0"));
		assertThat(counted.peek(of(policy, 9)).statuses()).extracting(LimitStatus::remaining)
			.startsWith(0L, 3L, 1L, 4L)
			.endsWith(1L, 4L);
		counted.refund(of(policy, 9));
		assertThat(counted.tryAcquire(of(policy, 9)).allowed()).isTrue();
	}

	private static RateLimitRequest of(Policy policy, int identifiers) {
		return RateLimitRequest.of(policy,
				IntStream.range(0, identifiers).mapToObj((i) -> Identifier.user("u" + i)).toArray(Identifier[]::new));
	}

	@Test
	void daysBeginAtMidnightOfTheZone() {
		Policy policy = policy(new FixedWindow(1, ZoneId.of("Europe/Paris")), "1/d");
		this.clock.set("2026-03-28T22:59:59Z");
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(policy, ALICE).retryAfter()).contains(Duration.ofSeconds(1));
		this.clock.set("2026-03-28T23:00:00Z");
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(policy, ALICE).retryAfter()).contains(Duration.ofHours(23));
	}

	/**
	 * Though 31 days end with the month, they began before it, and have another count.
	 */
	@Test
	void monthsAreThoseOfTheCalendar() {
		Policy policy = policy(new FixedWindow(), "9/31d", "7/month");
		this.clock.set("2043-01-30T00:00:00Z");
		this.limiter.tryAcquire(policy, ALICE, 5);
		this.clock.set("2043-02-02T00:00:00Z");
		assertThat(remaining(this.limiter, policy, ALICE)).containsExactly(4L, 7L);
		assertThat(this.limiter.tryAcquire(policy, ALICE, 5).retryAfter()).contains(Duration.ofDays(27));
		this.clock.set("2043-03-01T00:00:00Z");
		assertThat(this.limiter.tryAcquire(policy, ALICE, 5).statuses()).extracting(LimitStatus::resetAfter)
			.containsExactly(Duration.ofDays(31), Duration.ofDays(31));
	}

	@Test
	void impossibleCostInShadowModeBeginsNoWindow() {
		Policy policy = policy(new FirstRequestWindow(), "3/m");
		this.limiter.tryAcquire(RateLimitRequest.of(new Charge(policy, List.of(ALICE), 4, true)));
		this.clock.advance(Duration.ofSeconds(30));
		assertThat(this.limiter.tryAcquire(policy, ALICE, 3).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(policy, ALICE).retryAfter()).contains(Duration.ofMinutes(1));
	}

}
