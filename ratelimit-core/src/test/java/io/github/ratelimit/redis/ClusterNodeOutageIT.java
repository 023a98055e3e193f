package io.github.ratelimit.redis;

import org.junit.jupiter.api.Test;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A node of a cluster hangs, and no replica takes over: limits hold on the others, and
 * nobody waits for it.
 */
@SuppressWarnings("try")
class ClusterNodeOutageIT {

	private static final Policy POLICY = Policy.of("api", new FixedWindow(), new Limit(1_000_000, Limit.MAX_WINDOW));

	private static final Duration BUDGET = Duration.ofMillis(500);

	private static TestCluster cluster;

	/** On different masters. */
	private static List<Identifier> users;

	private final RedisConnections redis = cluster.connections().timeBudget(BUDGET).build();

	private final RateLimiter limiter = RedisRateLimiter.of(this.redis, TestRedis.newKeyPrefix());

	@BeforeAll
	static void start() {
		cluster = TestCluster.start("cluster-node-timeout 60000", "cluster-require-full-coverage no");
		users = ClusterKeys.onDifferentMasters(cluster);
	}

	@AfterAll
	static void stop() {
		cluster.close();
	}

	@AfterEach
	void close() {
		this.redis.close();
	}

	@Test
	void limitsOfOtherNodesHoldWhileOneHangs() {
		awaitAnswers();
		Identifier hung = users.get(1);
		RateLimitRequest all = RateLimitRequest.of(POLICY, users.toArray(Identifier[]::new));
		try (StoppedServer server = StoppedServer.stop(cluster.master(ClusterKeys.slot(hung)).admin().info("server"))) {
			long start = System.nanoTime();
			for (int i = 0; i < 15; i++) {
				assertFailsForItsNodeOnly(() -> this.limiter.tryAcquire(POLICY, hung));
				assertFailsForItsNodeOnly(() -> this.limiter.tryAcquire(all));
			}
			// Only the first ones wait, and now and then a probe that no request has to
			// wait for.
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(BUDGET.multipliedBy(20));
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.limiter.tryAcquire(POLICY, hung))
				.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isEqualTo(RedisErrorKind.NODE));
			assertThat(this.limiter.tryAcquire(POLICY, users.get(0)).allowed()).isTrue();
			assertThat(this.limiter.tryAcquire(POLICY, users.get(2)).allowed()).isTrue();
		}
		awaitAnswers();
	}

	/** Of all nodes. The first ones of a process may take longer than the budget. */
	private void awaitAnswers() {
		TestCluster.await("All nodes answer", () -> {
			try {
				return users.stream().allMatch((user) -> this.limiter.tryAcquire(POLICY, user).allowed());
			}
			catch (StoreException ex) {
				return false;
			}
		});
	}

	private static void assertFailsForItsNodeOnly(Runnable call) {
		// Who waits may notice it sooner than who reads.
		assertThatExceptionOfType(StoreException.class).isThrownBy(call::run)
			.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).as(String.valueOf(ex.getCause()))
				.isIn(RedisErrorKind.NODE, RedisErrorKind.TIMEOUT));
	}

	@Test
	void storeFailsWhileNoNodeAnswers() {
		awaitAnswers();
		List<StoppedServer> stopped = new ArrayList<>();
		try {
			List<String> servers = cluster.nodes().stream().map((node) -> node.admin().info("server")).toList();
			servers.forEach((server) -> stopped.add(StoppedServer.stop(server)));
			for (Identifier user : users) {
				assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.limiter.tryAcquire(POLICY, user));
			}
		}
		finally {
			stopped.forEach(StoppedServer::close);
		}
		awaitAnswers();
	}

}
