package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
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
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * For how long requests are denied without scripts for what was used before the clock was
 * set back. The time budget is five seconds, so that requests half a second longer ahead
 * may have been made now.
 */
class PipelineClockIT {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Duration STEP = Duration.ofMillis(500);

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:20Z");

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final RateLimiter limiter = PipelineRateLimiterIT.create(this.keyPrefix).withClock(this.clock);

	/** When a request is denied first and when it is allowed again. */
	static Stream<Arguments> denials() {
		return Stream.of(Arguments.of(new FixedWindow(), 1, "12:00:00", "12:01:00"),
				Arguments.of(new SlidingWindow(), 1, "12:00:14.500", "12:01:21"),
				Arguments.of(new SlidingWindow(Duration.ofSeconds(10)), 1, "12:00:14.500", "12:01:30"),
				Arguments.of(new SlidingWindowCounter(), 1, "11:59:54.500", "12:01:12"),
				Arguments.of(new SlidingWindowCounter(), 5, "11:59:54.500", "12:02:00"));
	}

	@ParameterizedTest
	@MethodSource("denials")
	void whatWasUsedCountsAgainAroundItsTime(Algorithm algorithm, long cost, String first, String end) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		this.limiter.tryAcquire(policy, ALICE, 5);
		this.clock.set("2026-03-01T11:58:00Z");
		List<Instant> denied = new ArrayList<>();
		while (this.clock.instant().isBefore(Instant.parse("2026-03-01T12:04:00Z"))) {
			if (!this.limiter.peek(RateLimitRequest.of(Charge.of(policy, ALICE).withCost(cost))).allowed()) {
				denied.add(this.clock.instant());
			}
			this.clock.advance(STEP);
		}
		Instant start = time(first);
		assertThat(denied).containsExactlyElementsOf(
				Stream.iterate(start, (at) -> at.isBefore(time(end)), (at) -> at.plus(STEP)).toList());
	}

	private static Instant time(String time) {
		return Instant.parse("2026-03-01T" + time + "Z");
	}

	@Test
	void firstRequestWindowDecidesAsInMemoryByAnyClock() {
		for (int seed = 0; seed < 50; seed++) {
			Random random = new Random(seed);
			Policy policy = Policy.of("api" + seed, new FirstRequestWindow(), Limit.parse("5/m"))
				.withCountDenied(random.nextBoolean());
			RateLimiter memory = new MemoryRateLimiter(this.clock);
			for (int i = 0; i < 40; i++) {
				this.clock.advance(Duration.ofMillis(random.nextInt(-100_000, 100_000)));
				long cost = 1 + random.nextInt(5);
				Decision expected = memory.tryAcquire(policy, ALICE, cost);
				assertThat(this.limiter.tryAcquire(policy, ALICE, cost)).as("seed %d, request %d", seed, i)
					.isEqualTo(expected);
			}
		}
	}

	/** As it is when the clock of the server was set back. */
	@Test
	void overlongFirstRequestWindowLastsOneWindowMore() {
		RateLimiter byServer = PipelineRateLimiterIT.create(this.keyPrefix);
		Policy policy = Policy.of("api", new FirstRequestWindow(), Limit.parse("5/h"));
		byServer.tryAcquire(policy, ALICE, 5);
		String key = TestRedis.client().keys(this.keyPrefix + ":*").iterator().next();
		TestRedis.client().pexpire(key, Duration.ofDays(1).toMillis());
		assertThat(byServer.tryAcquire(policy, ALICE).retryAfter().orElseThrow()).isEqualTo(Duration.ofHours(1));
		assertThat(TestRedis.client().pttl(key)).isBetween(3_000_000L, 3_600_000L);
	}

}
