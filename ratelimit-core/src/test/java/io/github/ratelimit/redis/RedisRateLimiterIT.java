package io.github.ratelimit.redis;

import java.time.InstantSource;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.PenaltyListener;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.test.StoreContracts;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RedisRateLimiterIT extends StoreContracts {

	@Override
	public RateLimiter create(InstantSource clock, PenaltyListener listener) {
		return RedisRateLimiter.of(TestRedis.connections(), TestRedis.newKeyPrefix())
			.withPenaltyListener(listener)
			.withClock(clock);
	}

	@Test
	void requestIsDecidedAtTheServersTimeToTheMicrosecond() {
		RateLimiter limiter = RedisRateLimiter.of(TestRedis.connections(), TestRedis.newKeyPrefix());
		Policy policy = Policy.of("api", new FixedWindow(), new Limit(100, Limit.MAX_WINDOW));
		long window = policy.limits().get(0).windowMicros();
		for (int i = 0; i < 20; i++) {
			long before = TestRedis.micros();
			LimitStatus status = limiter.tryAcquire(policy, Identifier.GLOBAL).statuses().get(0);
			long after = TestRedis.micros();
			long end = before - before % window + window;
			assertThat(end - status.resetAfter().toNanos() / 1000).isBetween(before, after);
		}
	}

}
