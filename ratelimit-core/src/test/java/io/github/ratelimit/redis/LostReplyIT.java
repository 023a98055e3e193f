package io.github.ratelimit.redis;

import java.util.function.BiConsumer;
import java.util.stream.Stream;

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
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A failure that leaves open whether Redis has counted: nothing is asked for a second
 * time.
 */
class LostReplyIT extends RedisFixture {

	private static final Policy POLICY = policy(new FirstRequestWindow(), "100/d");

	private static final RateLimitRequest REQUEST = request(POLICY, 1);

	private static final RateLimitRequest OTHER = RateLimitRequest.of(POLICY, ADDRESS);

	/** Calls, and what is left of 100 after each of them was served once, after 10. */
	static Stream<Arguments> calls() {
		return Stream.of(call("acquire", RateLimiter::tryAcquire, 89), call("charge", RateLimiter::charge, 89),
				call("refund", RateLimiter::refund, 91), call("peek", RateLimiter::peek, 90));
	}

	private static Arguments call(String name, BiConsumer<RateLimiter, RateLimitRequest> call, long remaining) {
		return Arguments.of(Named.of(name, call), remaining);
	}

	@ParameterizedTest
	@MethodSource("calls")
	void requestWhoseReplyIsLostIsServedOnce(BiConsumer<RateLimiter, RateLimitRequest> call, long remaining) {
		this.limiter.tryAcquire(POLICY, ALICE, 10);
		try (FaultyProxy proxy = new FaultyProxy(TestRedis.uri());
				// With more of them, it could be the reply to a login that is lost.
				RedisConnections redis = TestRedis.connections(proxy.uri()).connections(1).build()) {
			RateLimiter limiter = RedisRateLimiter.of(redis, this.keyPrefix);
			// Otherwise it is that the script is not known that is lost.
			call.accept(limiter, OTHER);
			proxy.lose(1);
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> call.accept(limiter, REQUEST));
			assertThat(proxy.toLose()).isZero();
			assertThat(remaining(limiter, POLICY, ALICE)).containsExactly(remaining);
		}
	}

	/** Jedis itself would send it again, up to five times. */
	@Test
	void clientOfAClusterIsAskedOnce() {
		TestCluster cluster = TestCluster.shared();
		try (ClusterProxies proxies = new ClusterProxies(cluster);
				UnifiedJedis jedis = JedisClients.ofCluster(cluster.addresses(), proxies.config())) {
			RateLimiter limiter = RedisRateLimiter.of(
					RedisConnections.client(jedis).timeBudget(TestRedis.PATIENCE).connections(1).build(),
					this.keyPrefix);
			// Otherwise it is that the script is not known that is lost.
			limiter.tryAcquire(REQUEST);
			limiter.peek(REQUEST);
			FaultyProxy proxy = proxies.ofSlot(ClusterKeys.slot(ALICE));
			proxy.lose(1);
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> limiter.tryAcquire(REQUEST))
				.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isEqualTo(RedisErrorKind.NODE));
			assertThat(proxy.toLose()).isZero();
			assertThat(remaining(limiter, POLICY, ALICE)).containsExactly(98L);
		}
	}

	/** Any other error than that the script is not known, though EVAL would work. */
	@Test
	void scriptThatIsRefusedIsNotSentInAnotherWay() {
		String user = this.keyPrefix;
		try (Jedis admin = new Jedis(TestRedis.uri())) {
			admin.aclSetUser(user, "on", ">secret", "~*", "+@all", "-evalsha");
		}
		this.limiter.tryAcquire(REQUEST);
		DefaultJedisClientConfig config = DefaultJedisClientConfig.builder().user(user).password("secret").build();
		try (RedisConnections redis = TestRedis.connections(TestRedis.uri()).config(config).build()) {
			RateLimiter limiter = RedisRateLimiter.of(redis, this.keyPrefix);
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> limiter.tryAcquire(REQUEST));
		}
		assertThat(remaining(this.limiter, POLICY, ALICE)).containsExactly(99L);
	}

}
