package io.github.ratelimit.redis;

import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.StoreTest;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.MultiDbClient;
import redis.clients.jedis.MultiDbConfig;
import redis.clients.jedis.MultiDbConfig.CircuitBreakerConfig;
import redis.clients.jedis.MultiDbConfig.DatabaseConfig;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A client of two servers, which goes on to the second if the first does not answer, and
 * by itself would send again what it has no reply to.
 */
@EnabledIf(value = "io.github.ratelimit.test.JedisClients#areNew", disabledReason = "There is no MultiDbClient")
class MultiDbIT extends StoreTest {

	private static final Policy POLICY = policy(new FixedWindow(), "100/3650d");

	private final OwnRedis first = new OwnRedis();

	private final OwnRedis second = new OwnRedis();

	private final FaultyProxy proxy = new FaultyProxy(this.first.uri());

	private UnifiedJedis jedis;

	private RateLimiter limiter;

	private void connect(int connections) {
		this.jedis = Clients.connect(this.proxy.port(), this.second.port(), connections);
		this.limiter = RedisRateLimiter.of(RedisConnections.client(this.jedis).timeBudget(TestRedis.PATIENCE).build());
	}

	@AfterEach
	void stop() {
		this.jedis.close();
		this.proxy.close();
		this.first.close();
		this.second.close();
	}

	@Test
	void requestWhoseReplyIsLostIsServedOnce() {
		// One, because a second would be opened if the first is not given back yet, and
		// is asked for more than PING when it is new.
		connect(1);
		this.limiter.tryAcquire(POLICY, ALICE);
		// The reply to PING arrives.
		this.proxy.loseAfter(1);
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.limiter.tryAcquire(POLICY, ALICE));
		assertThat(this.proxy.toLose()).isZero();
		assertThat(remaining(this.first)).isEqualTo(98);
		assertThat(remaining(this.second)).isEqualTo(100);
	}

	@Test
	void secondServerCountsWhenTheFirstIsGone() {
		connect(ConnectionPoolConfig.DEFAULT_MAX_TOTAL);
		this.limiter.tryAcquire(POLICY, ALICE);
		this.first.close();
		this.proxy.breakConnections();
		for (int counted = 0; counted < 3; counted++) {
			TestCluster.await("The client has gone on", () -> isAllowed(() -> this.limiter.tryAcquire(POLICY, ALICE)));
		}
		assertThat(remaining(this.second)).isEqualTo(97);
	}

	private static long remaining(OwnRedis server) {
		try (RedisConnections redis = server.connect("")) {
			return remaining(RedisRateLimiter.of(redis), POLICY, ALICE).get(0);
		}
	}

	/** What is not in every version of Jedis, and is not loaded where it is not. */
	private static final class Clients {

		static UnifiedJedis connect(int firstPort, int secondPort, int connections) {
			return MultiDbClient.builder()
				.multiDbConfig(MultiDbConfig.builder()
					.database(database(firstPort, 1, connections))
					.database(database(secondPort, 0.5f, connections))
					.failureDetector(CircuitBreakerConfig.builder().minNumOfFailures(2).slidingWindowSize(60).build())
					.build())
				.build();
		}

		private static DatabaseConfig database(int port, float weight, int connections) {
			ConnectionPoolConfig pool = new ConnectionPoolConfig();
			pool.setMaxTotal(connections);
			return DatabaseConfig
				.builder(new HostAndPort("127.0.0.1", port), DefaultJedisClientConfig.builder().build())
				.connectionPoolConfig(pool)
				.weight(weight)
				.healthCheckEnabled(false)
				.build();
		}

	}

}
