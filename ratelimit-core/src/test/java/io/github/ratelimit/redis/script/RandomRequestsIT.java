package io.github.ratelimit.redis.script;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.algorithm.SlidingWindowCounter.Rounding;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many requests of few identifiers: as many as fill logs, until they are merged, read in
 * pieces or cut.
 */
class RandomRequestsIT {

	private static final List<Identifier> IDENTIFIERS = List.of(Identifier.user("alice"), Identifier.GLOBAL);

	private static final int REQUESTS = Integer.getInteger("ratelimit.test.requests", 3000);

	static Stream<Arguments> policies() {
		return Stream
			.<Algorithm>of(new SlidingLog(), new SlidingLog(true), new SlidingWindow(),
					new SlidingWindow(Duration.ofMillis(7)), new SlidingWindowCounter(),
					new SlidingWindowCounter(0.7, Rounding.DOWN), new SlidingWindowCounter(0, Rounding.NONE))
			.flatMap((algorithm) -> Stream
				.of(List.of("70/s"), List.of("900/m"), List.of("20/100ms", "300/s", "990/m"),
						List.of("2000/10s", "3000/m"))
				.flatMap((limits) -> Stream.of(false, true).map((counted) -> Arguments.of(algorithm, limits, counted))))
			.filter((arguments) -> !arguments.get()[0].equals(new SlidingLog(true))
					|| !((List<?>) arguments.get()[1]).contains("3000/m"));
	}

	@ParameterizedTest
	@MethodSource("policies")
	void redisAndMemoryDecideTheSame(Algorithm algorithm, List<String> limits, boolean countDenied) {
		Policy policy = policy(algorithm, limits, 1).withCountDenied(countDenied);
		Policy other = policy(algorithm, limits, 3).withCountDenied(countDenied);
		Random random = new Random(1);
		ManualClock clock = new ManualClock("2026-03-01T12:00:00Z");
		Map<Identifier, Instant> used = new HashMap<>();
		MemoryRateLimiter memory = new MemoryRateLimiter(clock);
		RedisRateLimiter redis = RedisRateLimiter.of(TestRedis.connections(), TestRedis.newKeyPrefix())
			.withClock(clock);
		for (int i = 0; i < REQUESTS; i++) {
			Policy present = (random.nextInt(50) == 0) ? other : policy;
			long cost = (random.nextInt(3) > 0) ? 1 : random.nextLong(1 + largestQuota(present) / 50);
			List<Identifier> identifiers = (random.nextInt(8) > 0) ? IDENTIFIERS.subList(0, 1) : IDENTIFIERS;
			RateLimitRequest request = new RateLimitRequest(List.of(new Charge(present, identifiers, cost)),
					(random.nextInt(3) == 0) ? "request " + i : "");
			int operation = random.nextInt(40);
			assertThat(ask(redis, operation, request)).as("step %d: %d of %s", i, operation, request)
				.isEqualTo(ask(memory, operation, request));
			if (i % 500 == 0 && algorithm.keepsEntries()) {
				assertThat(redis.entries(policy, Identifier.GLOBAL))
					.isEqualTo(memory.entries(policy, Identifier.GLOBAL).stream().limit(1000).toList());
			}
			identifiers.forEach((identifier) -> used.merge(identifier, clock.instant(),
					(one, two) -> one.isAfter(two) ? one : two));
			long pause = pause(policy, random, i);
			if (pause < 0) {
				forgetIdle(policy, used, clock.instant(), List.of(memory, redis));
			}
			clock.advance(Duration.of(pause, ChronoUnit.MICROS));
		}
	}

	/**
	 * Forgets counts that do not matter unless the clock is set back. The store in memory
	 * may have forgotten them; Redis keeps them for a minute when a clock is handed in.
	 */
	private static void forgetIdle(Policy policy, Map<Identifier, Instant> used, Instant now,
			List<RateLimiter> limiters) {
		int windows = (policy.algorithm() instanceof SlidingWindowCounter) ? 2 : 1;
		Duration longest = policy.limits().get(policy.limits().size() - 1).window().multipliedBy(windows);
		used.forEach((identifier, last) -> {
			if (last.plus(longest).isBefore(now)) {
				limiters.forEach((limiter) -> limiter.reset(policy, identifier));
			}
		});
	}

	private static Decision ask(RateLimiter limiter, int operation, RateLimitRequest request) {
		switch (operation) {
			case 0 -> limiter.charge(request);
			case 1, 2 -> limiter.refund(request);
			default -> {
				return limiter.tryAcquire(request);
			}
		}
		return limiter.peek(request);
	}

	/** Mostly as much traffic as there is quota; sometimes none, and sometimes back. */
	private static long pause(Policy policy, Random random, int step) {
		Limit limit = policy.limits().get(random.nextInt(policy.limits().size()));
		if (random.nextInt(700) == 0) {
			return -random.nextLong(limit.windowMicros());
		}
		if (random.nextInt(300) == 0) {
			return random.nextLong(2 * limit.windowMicros());
		}
		return (step % 3 == 0) ? 0 : random.nextLong(1 + 4 * limit.windowMicros() / limit.quota());
	}

	private static long largestQuota(Policy policy) {
		return policy.limits().stream().mapToLong(Limit::quota).max().orElseThrow();
	}

	private static Policy policy(Algorithm algorithm, List<String> texts, int divisor) {
		List<Limit> limits = new ArrayList<>();
		texts.stream()
			.map(Limit::parse)
			.forEach((limit) -> limits.add(new Limit(limit.quota() / divisor, limit.window())));
		return new Policy("api", algorithm, limits);
	}

}
