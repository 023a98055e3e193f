package io.github.ratelimit.redis;

import java.time.Duration;

import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.HostAndPort;

import static org.assertj.core.api.Assertions.assertThat;

class DeadlineTests {

	private static final Duration BUDGET = Duration.ofMillis(100);

	@Test
	void firstCallsEndTogetherAndOthersWithTheirBudget() {
		HostAndPort closed = new HostAndPort("127.0.0.1", TestRedis.freePort());
		try (RedisConnections redis = RedisConnections.server(closed).timeBudget(BUDGET).build()) {
			long first = redis.deadline();
			assertThat(first - System.nanoTime()).isGreaterThan(BUDGET.toNanos());
			assertThat(redis.deadline()).isBetween(first - BUDGET.toNanos(), first + BUDGET.toNanos());
			assertThat(redis.connect(Duration.ofMillis(1))).isFalse();
			assertThat(redis.deadline() - System.nanoTime()).isLessThanOrEqualTo(BUDGET.toNanos());
		}
	}

}
