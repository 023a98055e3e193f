package io.github.ratelimit.redis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.HostAndPortMapper;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Connections to the nodes of a cluster.
 */
class ClusterConnectionsIT {

	private static final TestCluster CLUSTER = TestCluster.shared();

	private static final HostAndPort NODE = CLUSTER.nodes().get(0).address();

	private static final Duration BUDGET = Duration.ofSeconds(5);

	private static final Policy POLICY = Policy.of("api", new FixedWindow(), Limit.parse("100/3650d"));

	private static final Identifier ALICE = Identifier.user("alice");

	private static BudgetedNodes nodes(int connections) {
		ConnectionPoolConfig pool = new ConnectionPoolConfig();
		pool.setMaxTotal(connections);
		pool.setMaxIdle(connections);
		return new BudgetedNodes(BUDGET, Set.of(NODE), DefaultJedisClientConfig.builder().build(), pool);
	}

	private static List<Connection> take(NodeConnections nodes, int connections) {
		List<Connection> taken = new ArrayList<>();
		for (int i = 0; i < connections; i++) {
			taken.add(nodes.connect(NODE, ""));
		}
		return taken;
	}

	/** A slow command should not cost all connections, and a node that is gone should. */
	@Test
	void idleConnectionsAreClosedAfterFiveTimeoutsInARow() {
		GuardedNodes nodes = new GuardedNodes(nodes(8));
		JedisException timeout = new JedisConnectionException(new SocketTimeoutException("Read timed out"));
		List<Connection> before = take(nodes, 8);
		before.forEach(Connection::close);
		for (int i = 0; i < 4; i++) {
			nodes.failed(NODE, timeout);
		}
		nodes.answered(NODE);
		for (int i = 0; i < 4; i++) {
			nodes.failed(NODE, timeout);
		}
		List<Connection> kept = take(nodes, 8);
		assertThat(kept).containsExactlyInAnyOrderElementsOf(before);
		kept.forEach(Connection::close);
		nodes.failed(NODE, timeout);
		assertThat(take(nodes, 8)).doesNotContainAnyElementsOf(before);
		nodes.close();
	}

	@Test
	void idleConnectionsAreClosedWhenOneBreaks() {
		GuardedNodes nodes = new GuardedNodes(nodes(8));
		List<Connection> before = take(nodes, 8);
		before.forEach(Connection::close);
		nodes.failed(NODE, new JedisConnectionException("Unexpected end of stream."));
		assertThat(take(nodes, 8)).doesNotContainAnyElementsOf(before);
		nodes.close();
	}

	/** Another node has hung so long that there was no time left for this one. */
	@Test
	void nodeThatWasNotWaitedForIsNotToBlame() {
		GuardedNodes nodes = new GuardedNodes(nodes(8));
		for (int i = 0; i < 5; i++) {
			nodes.failed(NODE, new JedisConnectionException(new TimeUsedUpException()));
		}
		assertThat(nodes.isAvoided(NODE)).isFalse();
		for (int i = 0; i < 5; i++) {
			nodes.failed(NODE, new JedisConnectionException(new SocketTimeoutException("Read timed out")));
		}
		assertThat(nodes.isAvoided(NODE)).isTrue();
		nodes.answered(NODE);
		assertThat(nodes.isAvoided(NODE)).isFalse();
		nodes.close();
	}

	/** Of two nodes to begin with, one hangs. */
	@Test
	void firstDecisionDoesNotWaitForANodeThatHangs() throws IOException {
		try (ServerSocket hung = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"))) {
			Set<HostAndPort> seeds = Set.of(NODE, new HostAndPort("127.0.0.1", hung.getLocalPort()));
			for (int i = 0; i < 20; i++) {
				TimeBudget budget = TimeBudget.ofCluster(Duration.ofSeconds(2), seeds,
						DefaultJedisClientConfig.builder().build(), new ConnectionPoolConfig());
				try (UnifiedJedis jedis = budget.client()) {
					RateLimiter limiter = budget.limit(RedisRateLimiter.of(jedis, TestRedis.newKeyPrefix()));
					assertThat(limiter.tryAcquire(POLICY, ALICE).allowed()).isTrue();
				}
			}
		}
	}

	@Test
	void interruptBeforeAnyNodeHasAnsweredIsNoOutage() throws IOException {
		try (ServerSocket hung = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"))) {
			TimeBudget budget = TimeBudget.ofCluster(BUDGET, Set.of(new HostAndPort("127.0.0.1", hung.getLocalPort())),
					DefaultJedisClientConfig.builder().build(), new ConnectionPoolConfig());
			try (UnifiedJedis jedis = budget.client()) {
				RateLimiter limiter = budget.limit(RedisRateLimiter.of(jedis, TestRedis.newKeyPrefix()));
				Thread.currentThread().interrupt();
				assertThatExceptionOfType(StoreException.class).isThrownBy(() -> limiter.tryAcquire(POLICY, ALICE))
					.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isEqualTo(RedisErrorKind.INTERRUPTED));
				assertThat(Thread.interrupted()).isTrue();
			}
		}
	}

	/** It is no master any more, and is one again, or the answer was out of date. */
	@Test
	void whoWaitsForANodeThatIsLeftOutIsConnectedAnew() {
		BudgetedNodes nodes = nodes(1);
		Connection only = nodes.connect(NODE, "");
		CompletableFuture<Connection> second = CompletableFuture.supplyAsync(() -> nodes.connect(NODE, ""));
		TestCluster.await("Somebody waits", () -> nodes.waiting(NODE) == 1);
		nodes.retain(Set.of());
		assertThat(second.join().ping()).isTrue();
		only.close();
		second.join().close();
		nodes.close();
	}

	@Test
	void connectionThatIsMadeWhileTheClientIsClosedIsRefused() {
		ClosingConfig config = new ClosingConfig();
		BudgetedNodes nodes = new BudgetedNodes(BUDGET, Set.of(NODE), config, new ConnectionPoolConfig());
		config.close = () -> CompletableFuture.runAsync(nodes::close).join();
		assertThatExceptionOfType(JedisException.class).isThrownBy(() -> nodes.connect(NODE, ""))
			.withMessage("The client is closed");
		assertThat(nodes.waiting(NODE)).isZero();
	}

	/** Runs something while connections are about to be made. */
	private static final class ClosingConfig implements JedisClientConfig {

		private Runnable close = () -> {
		};

		@Override
		public SslOptions getSslOptions() {
			this.close.run();
			return null;
		}

		@Override
		public HostAndPortMapper getHostAndPortMapper() {
			return null;
		}

	}

}
