package io.github.ratelimit.redis;

import java.util.List;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which time a request is decided at.
 */
class ServerClockIT {

	private final RateLimiter limiter = RedisRateLimiter.of(TestRedis.connections(), TestRedis.newKeyPrefix());

	@Test
	void requestIsDecidedAtTheServersTimeToTheMicrosecond() {
		Policy policy = Policy.of("api", new FixedWindow(), new Limit(100, Limit.MAX_WINDOW));
		long window = policy.limits().get(0).windowMicros();
		for (int i = 0; i < 20; i++) {
			long before = serverMicros();
			LimitStatus status = this.limiter.tryAcquire(policy, Identifier.GLOBAL).statuses().get(0);
			long after = serverMicros();
			long end = before - before % window + window;
			assertThat(end - status.resetAfter().toNanos() / 1000).isBetween(before, after);
		}
	}

	private static long serverMicros() {
		List<?> time = (List<?>) TestRedis.client().eval("return redis.call('TIME')");
		return Long.parseLong((String) time.get(0)) * 1_000_000 + Long.parseLong((String) time.get(1));
	}

}
