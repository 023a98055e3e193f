package io.github.ratelimit.redis;

import java.time.InstantSource;

import io.github.ratelimit.PenaltyListener;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.test.StoreContracts;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;

class ClusterRateLimiterIT extends StoreContracts {

	private static final RedisConnections REDIS = TestCluster.shared().connections().build();

	@Override
	public RateLimiter create(InstantSource clock, PenaltyListener listener) {
		return RedisRateLimiter.of(REDIS, TestRedis.newKeyPrefix()).withPenaltyListener(listener).withClock(clock);
	}

}
