package io.github.ratelimit.redis;

import java.util.List;
import java.util.function.BiConsumer;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.test.ClusterProxies;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A node of a cluster has done what it was asked for, and its answer is lost: nothing is
 * asked for a second time.
 */
class ClusterLostReplyIT {

	private static final TestCluster CLUSTER = TestCluster.shared();

	private static final Policy POLICY = Policy.of("api", new FirstRequestWindow(), Limit.parse("100/d"));

	/** On different nodes. */
	private static final List<Identifier> USERS = ClusterKeys.onDifferentMasters(CLUSTER);

	private static final RateLimitRequest REQUEST = RateLimitRequest.of(POLICY, USERS.get(0));

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final ClusterProxies proxies = new ClusterProxies(CLUSTER);

	@AfterEach
	void closeProxies() {
		this.proxies.close();
	}

	/** Jedis itself would send it again, up to five times. */
	@ParameterizedTest
	@MethodSource("io.github.ratelimit.redis.LostReplyIT#calls")
	void requestOfClientOfJedisIsServedOnce(BiConsumer<RateLimiter, RateLimitRequest> call, long remaining) {
		try (UnifiedJedis jedis = JedisClients.ofCluster(CLUSTER.addresses(), this.proxies.config())) {
			assertServedOnce(RedisConnections.client(jedis).timeBudget(TestRedis.PATIENCE).connections(1).build(), call,
					remaining);
		}
	}

	/**
	 * With several connections to a node it may be the first reply to another one that is
	 * lost.
	 */
	private void assertServedOnce(RedisConnections redis, BiConsumer<RateLimiter, RateLimitRequest> call,
			long remaining) {
		RateLimiter limiter = RedisRateLimiter.of(redis, this.keyPrefix);
		for (int i = 0; i < 10; i++) {
			limiter.tryAcquire(REQUEST);
		}
		// Otherwise it is that the script is not known that is lost.
		Identifier neighbour = ClusterKeys.of(CLUSTER, CLUSTER.master(ClusterKeys.slot(USERS.get(0))))
			.filter((user) -> !user.equals(USERS.get(0)))
			.findFirst()
			.orElseThrow();
		call.accept(limiter, RateLimitRequest.of(POLICY, neighbour));
		FaultyProxy proxy = proxyOf(USERS.get(0));
		proxy.lose(1);
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> call.accept(limiter, REQUEST))
			.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isEqualTo(RedisErrorKind.NODE));
		assertThat(proxy.toLose()).isZero();
		assertThat(limiter.peek(REQUEST).statuses().get(0).remaining()).isEqualTo(remaining);
	}

	/** With one connection to each node a single one that is not returned shows. */
	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2 })
	void otherNodesAreCancelledWhenOneCannotBeReached(int which) {
		try (RedisConnections redis = CLUSTER.connections().config(this.proxies.config()).connections(1).build()) {
			RateLimiter limiter = RedisRateLimiter.of(redis, this.keyPrefix);
			RateLimitRequest all = RateLimitRequest.of(POLICY, USERS.toArray(Identifier[]::new));
			assertThat(limiter.tryAcquire(all).allowed()).isTrue();
			proxyOf(USERS.get(which)).refuseConnections();
			proxyOf(USERS.get(which)).lose(1);
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> limiter.tryAcquire(all));
			USERS.stream()
				.filter((user) -> user != USERS.get(which))
				.forEach((user) -> TestCluster.await("Cancelled for " + user,
						() -> limiter.peek(RateLimitRequest.of(POLICY, user)).statuses().get(0).remaining() == 99));
		}
	}

	private FaultyProxy proxyOf(Identifier user) {
		return this.proxies.ofSlot(ClusterKeys.slot(user));
	}

}
