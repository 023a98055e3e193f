package io.github.ratelimit.spring.web;

import java.time.Duration;
import java.util.Random;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.algorithm.DailyAllowance;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An algorithm of an application, which {@code docs/own-algorithm.md} shows.
 */
class OwnAlgorithmIT {

	@Test
	void redisDecidesAsTheStoreInMemory() {
		ManualClock clock = new ManualClock("2026-01-01T00:00:00Z");
		RateLimiter redis = RedisRateLimiter.of(TestRedis.connections(), TestRedis.newKeyPrefix()).withClock(clock);
		RateLimiter memory = new MemoryRateLimiter(clock);
		Random random = new Random(42);
		for (int i = 0; i < 1000; i++) {
			Policy policy = Policy.of("api", new DailyAllowance(7), Limit.parse(1 + random.nextInt(9) + "/d"));
			RateLimitRequest request = RateLimitRequest
				.of(Charge.of(policy, Identifier.GLOBAL).withCost(random.nextInt(5)));
			switch (random.nextInt(6)) {
				case 0 -> {
					redis.refund(request);
					memory.refund(request);
				}
				case 1 -> {
					redis.charge(request);
					memory.charge(request);
				}
				case 2 -> clock.advance(Duration.ofMinutes(random.nextInt(-600, 1200)));
				default -> assertThat(redis.tryAcquire(request)).isEqualTo(memory.tryAcquire(request));
			}
		}
	}

}
