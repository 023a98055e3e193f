package io.github.ratelimit.spring.actuate;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.redis.RedisErrorKind;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.OwnRedis;
import io.github.ratelimit.test.TestRedis;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Errors as real servers and sockets make them.
 */
class StoreErrorMetricsIT {

	private static final RateLimitRequest REQUEST = RateLimitRequest
		.of(Policy.of("api", new SlidingLog(), Limit.parse("1/d")), Identifier.GLOBAL);

	/** Much longer than any answer takes, in milliseconds. */
	private static final int PATIENT = 10_000;

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final StoreErrorMetrics metrics = new StoreErrorMetrics(this.registry);

	@Test
	void everyKindIsThereFromTheStart() {
		assertThat(counts().keySet()).containsExactly("busy", "clusterdown", "connection", "error-reply", "loading",
				"masterdown", "misconf", "noauth", "node", "noperm", "noreplicas", "noscript", "oom", "other",
				"overload", "readonly", "timeout", "wrong-reply", "wrongpass", "wrongtype");
		assertThat(counts().values()).containsOnly(0.0);
	}

	@Test
	void answerIsNoError() {
		RateLimiter limiter = this.metrics
			.decorate(RedisRateLimiter.of(TestRedis.connections(), TestRedis.newKeyPrefix()));
		assertThat(limiter.tryAcquire(REQUEST).allowed()).isTrue();
		assertThat(limiter.tryAcquire(REQUEST).allowed()).isFalse();
		assertThat(counts().values()).containsOnly(0.0);
	}

	/** Whether a call was sent before its time was over is a matter of chance. */
	@Test
	void hangingServerIsTimeoutOrOverload() throws IOException {
		try (ServerSocket hanging = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"))) {
			assertFailures(client(hanging.getLocalPort(), 100, new GenericObjectPoolConfig<>()),
					Duration.ofMillis(100));
		}
		Map<String, Double> counts = counts();
		assertThat(counts.remove("timeout") + counts.remove("overload")).isEqualTo(4);
		assertThat(counts.values()).containsOnly(0.0);
	}

	@Test
	void missingServerIsConnection() {
		assertFailureIs("connection", client(TestRedis.freePort(), PATIENT, new GenericObjectPoolConfig<>()));
	}

	@Test
	void emptyPoolIsOverload() {
		GenericObjectPoolConfig<Connection> pool = new GenericObjectPoolConfig<>();
		pool.setMaxTotal(0);
		pool.setMaxWait(Duration.ofMillis(1));
		assertFailureIs("overload", client(TestRedis.freePort(), PATIENT, pool));
	}

	@Test
	void refusalOfServerIsErrorReply() {
		try (OwnRedis redis = OwnRedis.started("rename-command EVALSHA \"\"")) {
			assertFailureIs("error-reply", client(redis.port(), PATIENT, new GenericObjectPoolConfig<>()));
		}
	}

	@Test
	void failureThatIsNotOfRedisIsOther() {
		assertThat(RedisErrorKind.of(new StoreException("gone", new IllegalStateException())))
			.isEqualTo(RedisErrorKind.OTHER);
	}

	private void assertFailureIs(String kind, UnifiedJedis jedis) {
		assertFailures(jedis, Duration.ofMillis(PATIENT));
		Map<String, Double> counts = counts();
		assertThat(counts.remove(kind)).isEqualTo(4);
		assertThat(counts.values()).containsOnly(0.0);
	}

	private void assertFailures(UnifiedJedis jedis, Duration timeBudget) {
		// Closed, so that nobody goes on looking for a server that will never be there.
		try (jedis; RedisConnections redis = RedisConnections.client(jedis).timeBudget(timeBudget).build()) {
			RateLimiter limiter = this.metrics.decorate(RedisRateLimiter.of(redis, TestRedis.newKeyPrefix()));
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> limiter.tryAcquire(REQUEST));
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> limiter.peek(REQUEST));
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> limiter.refund(REQUEST));
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> limiter.charge(REQUEST));
		}
	}

	private Map<String, Double> counts() {
		Map<String, Double> counts = new TreeMap<>();
		this.registry.get("ratelimit.store.errors")
			.counters()
			.forEach((counter) -> counts.put(counter.getId().getTag("kind"), counter.count()));
		return counts;
	}

	private static UnifiedJedis client(int port, int timeoutMillis, GenericObjectPoolConfig<Connection> pool) {
		return RedisClient.builder()
			.hostAndPort("127.0.0.1", port)
			.clientConfig(DefaultJedisClientConfig.builder().timeoutMillis(timeoutMillis).build())
			.poolConfig(pool)
			.build();
	}

}
