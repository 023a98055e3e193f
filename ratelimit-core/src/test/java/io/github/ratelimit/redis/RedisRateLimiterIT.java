package io.github.ratelimit.redis;

import java.time.InstantSource;

import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.test.BlockListContract;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.RequestHistoryContract;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Nested;

class RedisRateLimiterIT extends RateLimiterContract {

	@Override
	protected RateLimiter newRateLimiter(InstantSource clock) {
		return RedisRateLimiter.of(TestRedis.client(), TestRedis.newKeyPrefix()).withClock(clock);
	}

	@Nested
	class Blocks extends BlockListContract {

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock) {
			return RedisRateLimiter.of(TestRedis.client(), TestRedis.newKeyPrefix()).withClock(clock);
		}

	}

	@Nested
	class History extends RequestHistoryContract {

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock) {
			return RedisRateLimiter.of(TestRedis.client(), TestRedis.newKeyPrefix()).withClock(clock);
		}

	}

}
