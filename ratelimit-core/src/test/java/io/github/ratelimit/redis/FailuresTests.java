package io.github.ratelimit.redis;

import java.io.IOException;
import java.time.Duration;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.redis.connection.CallException;
import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisConnectionException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class FailuresTests {

	@Test
	void reasonAddsTheAddressOfARefusedConnection() {
		int port = TestRedis.freePort();
		try (RedisConnections redis = RedisConnections.server(new HostAndPort("127.0.0.1", port)).build()) {
			RedisRateLimiter limiter = RedisRateLimiter.of(redis);
			Policy policy = Policy.of("api", new FixedWindow(), new Limit(1, Duration.ofDays(1)));
			assertThatExceptionOfType(StoreException.class)
				.isThrownBy(() -> limiter.tryAcquire(policy, Identifier.GLOBAL))
				.satisfies((ex) -> assertThat(ex.reason())
					.startsWith("Failed to connect to 127.0.0.1:%d: java.net.ConnectException: ".formatted(port)));
		}
	}

	@Test
	void reasonHasTheNodeThatItsFailureDoesNotName() {
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> Failures.run("ask", () -> {
			throw new CallException(Reason.NODE, "The node 127.0.0.1:7000 does not answer", new CallException(
					Reason.OUTAGE, "It was not sent", new JedisConnectionException(new IOException("gone"))));
		}))
			.satisfies((ex) -> assertThat(ex.reason())
				.isEqualTo("The node 127.0.0.1:7000 does not answer: java.io.IOException: gone"));
	}

	@Test
	void reasonOfAnErrorIsTheErrorAlone() {
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> Failures.run("ask", () -> {
			throw new CallException(Reason.NODE, "The node 127.0.0.1:7000 has not the slot", null);
		}))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(
					"io.github.ratelimit.redis.connection.CallException: The node 127.0.0.1:7000 has not the slot"));
	}

}
