package io.github.ratelimit.redis;

import java.time.Duration;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Decisions while a server says that it is no longer the right one, and new connections
 * are led to another.
 */
@Timeout(120)
class WrongMasterIT {

	private static final Policy POLICY = Policy.of("api", new FixedWindow(), new Limit(100, Limit.MAX_WINDOW));

	/**
	 * The errors are answered before a script runs. There is one connection, as another
	 * may be in use when the first learns of it.
	 */
	@ParameterizedTest
	@CsvSource({ "READONLY, false", "READONLY, true", "MASTERDOWN, false", "MASTERDOWN, true", "NOAUTH, false",
			"NOAUTH, true" })
	void oneDecisionIsRefusedWhenServerSaysItIsWrong(RedisErrorKind error, boolean borrowed) {
		try (FaultyProxy name = new FaultyProxy(TestRedis.uri());
				AnsweringServer wrong = new AnsweringServer("EVALSHA", "-%s of a test\r\n".formatted(error),
						() -> name.leadTo(TestRedis.uri()))) {
			name.leadTo(wrong.uri());
			try (UnifiedJedis client = JedisClients.create(name.uri());
					RedisConnections redis = (borrowed ? RedisConnections.client(client)
							: RedisConnections.server(new HostAndPort("127.0.0.1", name.uri().getPort())))
						.connections(1)
						.timeBudget(Duration.ofMinutes(1))
						.build()) {
				RateLimiter limiter = RedisRateLimiter.of(redis, TestRedis.newKeyPrefix());
				assertThatExceptionOfType(StoreException.class)
					.isThrownBy(() -> limiter.tryAcquire(POLICY, Identifier.GLOBAL))
					.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isEqualTo(error));
				// The new master has got no counts of the former one.
				for (long left = 99; left >= 90; left--) {
					assertThat(limiter.tryAcquire(POLICY, Identifier.GLOBAL).statuses()).singleElement()
						.hasFieldOrPropertyWithValue("remaining", left);
				}
			}
		}
	}

}
