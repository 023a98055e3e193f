package io.github.ratelimit.redis;

import java.time.InstantSource;

import io.github.ratelimit.PenaltyListener;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.test.StoreContracts;
import io.github.ratelimit.test.TestRedis;

class RedisRateLimiterIT extends StoreContracts {

	@Override
	public RateLimiter create(InstantSource clock, PenaltyListener listener) {
		return RedisRateLimiter.of(TestRedis.connections(), TestRedis.newKeyPrefix())
			.withPenaltyListener(listener)
			.withClock(clock);
	}

}
