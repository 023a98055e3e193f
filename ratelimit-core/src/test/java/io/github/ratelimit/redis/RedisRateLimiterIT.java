package io.github.ratelimit.redis;

import java.time.InstantSource;

import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.TestRedis;

class RedisRateLimiterIT extends RateLimiterContract {

	@Override
	protected RateLimiter newRateLimiter(InstantSource clock) {
		return RedisRateLimiter.of(TestRedis.client(), TestRedis.newKeyPrefix()).withClock(clock);
	}

}
