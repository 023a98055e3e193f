package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.Replication;
import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.StoreTest;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestCluster.Node;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;

@SuppressWarnings("try")
class ClusterFailoverIT extends StoreTest {

	private static final int QUOTA = 1_000_000;

	private static final Policy POLICY = Policy.of("api", new FixedWindow(), new Limit(QUOTA, Limit.MAX_WINDOW));

	private static final Duration BUDGET = Duration.ofSeconds(1);

	@AutoClose
	private static final TestCluster CLUSTER = TestCluster.start("cluster-node-timeout 1000");

	private final String keyPrefix = TestRedis.newKeyPrefix();

	@AutoClose
	private final RedisConnections redis = CLUSTER.connections().timeBudget(BUDGET).build();

	private final RateLimiter limiter = RedisRateLimiter.of(this.redis, this.keyPrefix);

	/** On different masters; the first one fails. */
	private final List<Identifier> users = ClusterKeys.onDifferentMasters(CLUSTER);

	private final Node master = CLUSTER.master(ClusterKeys.slot(this.users.get(0)));

	@AfterEach
	void heal() {
		CLUSTER.heal();
	}

	/** It is given up, and goes on later as if nothing had been. */
	@Test
	void nothingIsCountedOnAMasterThatHasHung() {
		count(100);
		Replication.await(() -> this.master.admin().info("replication"));
		try (UnifiedJedis ofMaster = JedisClients.create(this.master.address());
				StoppedServer server = StoppedServer.stop(ofMaster)) {
			TestCluster.await("The replica has taken over", () -> isAllowed(() -> this.limiter.peek(all())));
			assertThat(used(this.users.get(0))).isEqualTo(100);
			count(1);
		}
		count(1);
		this.users.forEach((user) -> assertThat(used(user)).isEqualTo(102));
		TestCluster.await("The old master is a replica", () -> !this.master.isMaster());
		count(1);
		this.users.forEach((user) -> assertThat(used(user)).isEqualTo(103));
	}

	private void count(int times) {
		for (int i = 0; i < times; i++) {
			assertThat(this.limiter.tryAcquire(all()).allowed()).isTrue();
		}
	}

	private RateLimitRequest all() {
		return RateLimitRequest.of(POLICY, this.users.toArray(Identifier[]::new));
	}

	/**
	 * Of what was allowed only that may be missing which the master has not passed on
	 * before it died. What has failed may have been counted, but not twice.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void nothingButTheLastWritesIsLostUnderLoad(boolean ownClient) {
		Identifier first = this.users.get(0);
		Map<Identifier, Long> allowed = new ConcurrentHashMap<>();
		Map<Identifier, Long> failed = new ConcurrentHashMap<>();
		for (Identifier user : this.users) {
			allowed.put(user, 0L);
			failed.put(user, 0L);
		}
		AtomicBoolean done = new AtomicBoolean();
		try (UnifiedJedis client = JedisClients.ofCluster(CLUSTER.addresses(),
				DefaultJedisClientConfig.builder().build())) {
			RateLimiter limiter = ownClient
					? RedisRateLimiter.of(RedisConnections.client(client).timeBudget(BUDGET).build(), this.keyPrefix)
					: this.limiter;
			// Nothing but a StoreException may come of it.
			List<CompletableFuture<Void>> load = Stream.concat(this.users.stream(), this.users.stream())
				.map((user) -> CompletableFuture.runAsync(() -> {
					while (!done.get()) {
						try {
							assertThat(limiter.tryAcquire(POLICY, user).allowed()).isTrue();
							allowed.merge(user, 1L, Long::sum);
						}
						catch (StoreException ex) {
							failed.merge(user, 1L, Long::sum);
						}
					}
				}, (task) -> new Thread(task, "load").start()))
				.toList();
			TestCluster.await("Enough is counted", () -> allowed.get(first) > 500);
			this.master.kill();
			long before = allowed.get(first);
			TestCluster.await("Enough is counted again",
					() -> allowed.get(first) > before + 500 && allowed.get(this.users.get(1)) > 1000);
			done.set(true);
			load.forEach(CompletableFuture::join);
			assertThat(used(first)).isBetween(allowed.get(first) - before - 2, allowed.get(first) + failed.get(first));
			for (Identifier other : this.users.subList(1, 3)) {
				assertThat(used(other)).isBetween(allowed.get(other), allowed.get(other) + failed.get(other));
			}
		}
		finally {
			done.set(true);
		}
	}

	private long used(Identifier user) {
		return QUOTA - remaining(this.limiter, POLICY, user).get(0);
	}

}
