package io.github.ratelimit.redis.cluster;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.ratelimit.redis.connection.Connecting;
import io.github.ratelimit.redis.connection.ServerSettings;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestCluster.Node;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.providers.ClusterConnectionProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Nodes that come and go, for connections of one's own and for those of the application.
 */
class ChangingNodesIT {

	private static final ServerSettings SETTINGS = Connecting.settings("cluster", Duration.ofSeconds(5));

	private static final String NAME = "ratelimit-" + ProcessHandle.current().pid();

	private static final JedisClientConfig CONFIG = DefaultJedisClientConfig.builder().clientName(NAME).build();

	private static TestCluster cluster;

	@BeforeAll
	static void start() {
		cluster = TestCluster.start();
	}

	@AfterAll
	static void stop() {
		cluster.close();
	}

	private static ClusterConnectionProvider provider() {
		return new ClusterConnectionProvider(Set.of(cluster.nodes().get(0).address()), CONFIG);
	}

	private static long connections(Node node) {
		return node.admin().clientList().lines().filter((line) -> line.contains("name=" + NAME)).count();
	}

	private static void move(int slot, Node to) {
		Node from = cluster.master(slot);
		TestCluster.beginToMove(slot, from, to);
		cluster.endMove(slot, from, to);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void newNodeIsUsedWhileItHasSlots(boolean ofApplication) {
		try (ClusterConnectionProvider provider = provider();
				ClusterServers servers = ofApplication ? ClusterServers.of(provider, SETTINGS, Connecting.NOBODY)
						: ClusterServers.of(cluster.addresses(), CONFIG, SETTINGS, Connecting.NOBODY)) {
			String key = SlotKeys.any().findFirst().orElseThrow();
			int slot = SlotKeys.slot(key);
			assertThat(Increment.of(servers, key)).isEqualTo(1);
			Node old = cluster.master(slot);
			Node node = cluster.addMaster();
			TestCluster.beginToMove(slot, old, node);
			assertThat(Increment.of(servers, key + "created")).isEqualTo(1);
			cluster.endMove(slot, old, node);
			assertThat(Increment.of(servers, key)).isEqualTo(2);
			assertThat(connections(node)).isPositive();
			move(slot, old);
			assertThat(Increment.of(servers, key)).isEqualTo(3);
			if (!ofApplication) {
				TestCluster.await("Nothing is connected to it", () -> connections(node) == 0);
			}
		}
	}

	@Test
	void connectionsOfTheApplicationAreReturned() {
		try (ClusterConnectionProvider provider = provider()) {
			try (ClusterServers servers = ClusterServers.of(provider, SETTINGS, Connecting.NOBODY)) {
				SlotKeys.any().limit(100).forEach((key) -> assertThat(Increment.of(servers, key)).isOne());
				TestCluster.await("All are given back",
						() -> provider.getNodes().values().stream().allMatch((pool) -> pool.getNumActive() == 0));
			}
			assertThat(provider.getNodes().values()).isNotEmpty().noneMatch(ConnectionPool::isClosed);
			try (Connection connection = provider.getConnection()) {
				assertThat(connection.ping()).isTrue();
			}
		}
	}

	/**
	 * Jedis makes new connections to the nodes of a closed client, which nobody closes.
	 */
	@Test
	@SuppressWarnings("try")
	void closedClientIsNotConnectedAgain() {
		try (ClusterConnectionProvider provider = provider();
				ClusterServers servers = ClusterServers.of(provider, SETTINGS, Connecting.NOBODY)) {
			String key = TestRedis.newKeyPrefix();
			assertThat(Increment.of(servers, key)).isOne();
			provider.close();
			assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(servers, key))
				.havingRootCause()
				.withMessage("The client is closed");
			assertThat(provider.getNodes()).isEmpty();
		}
	}

	/** The application holds all connections to one node. */
	@Test
	void callsToOtherNodesSucceedWhenOnePoolIsExhausted() {
		try (ClusterConnectionProvider provider = provider();
				ClusterServers servers = ClusterServers.of(provider, SETTINGS, Connecting.NOBODY)) {
			List<String> keys = SlotKeys.onDifferentMasters(cluster);
			keys.forEach((key) -> Increment.of(servers, key));
			HostAndPort node = cluster.master(SlotKeys.slot(keys.get(0))).address();
			List<Connection> held = new ArrayList<>();
			for (int i = 0; i < 8; i++) {
				held.add(provider.getConnection(node));
			}
			Increment waits = Increment.submit(servers, Duration.ofSeconds(20), keys.get(0));
			for (int i = 2; i < 100; i++) {
				assertThat(Increment.of(servers, keys.get(1))).isEqualTo(i);
			}
			held.forEach(Connection::close);
			assertThat(waits.number()).isEqualTo(2);
		}
	}

	@Test
	void nodesThatStartAfterTheFirstCallAreFound() {
		AtomicBoolean up = new AtomicBoolean();
		HostAndPort nobody = new HostAndPort("127.0.0.1", TestRedis.freePort());
		JedisClientConfig config = DefaultJedisClientConfig.builder()
			.hostAndPortMapper((node) -> up.get() ? node : nobody)
			.build();
		try (ClusterServers servers = ClusterServers.of(cluster.addresses(), config, SETTINGS, Connecting.NOBODY)) {
			String key = TestRedis.newKeyPrefix();
			assertThat(isDone(servers, key)).isFalse();
			up.set(true);
			TestCluster.await("The nodes are found", () -> isDone(servers, key));
			assertThat(Increment.of(servers, key)).isEqualTo(2);
		}
	}

	private static boolean isDone(ClusterServers servers, String key) {
		try {
			return Increment.of(servers, key) > 0;
		}
		catch (JedisException ex) {
			return false;
		}
	}

	/** One that is deployed again could not be unloaded. */
	@Test
	void threadsKeepNoClassLoaderOfTheApplication() throws Exception {
		ClassLoader before = Thread.currentThread().getContextClassLoader();
		Set<Thread> others = Thread.getAllStackTraces().keySet();
		try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
				URLClassLoader application = new URLClassLoader(new URL[0], before);
				ClusterServers servers = ClusterServers.of(Set.of(new HostAndPort("127.0.0.1", silent.getLocalPort())),
						CONFIG, SETTINGS, Connecting.NOBODY)) {
			Thread.currentThread().setContextClassLoader(application);
			Increment.submit(servers, Duration.ofSeconds(20), TestRedis.newKeyPrefix());
			List<Thread> threads = Thread.getAllStackTraces()
				.keySet()
				.stream()
				.filter((thread) -> thread.getName().startsWith("ratelimit") && !others.contains(thread))
				.toList();
			assertThat(threads).extracting(Thread::getName).contains("ratelimit-cluster");
			assertThat(threads).allSatisfy((thread) -> assertThat(thread.getContextClassLoader()).isNull());
		}
		finally {
			Thread.currentThread().setContextClassLoader(before);
		}
	}

	@Test
	void noThreadsAndConnectionsAreLeftWhenItIsClosed() {
		Set<Thread> before = Thread.getAllStackTraces().keySet();
		JedisClientConfig config = DefaultJedisClientConfig.builder().clientName("closed").build();
		for (int i = 0; i < 5; i++) {
			try (ClusterServers servers = ClusterServers.of(cluster.addresses(), config, SETTINGS, Connecting.NOBODY)) {
				CompletableFuture
					.allOf(SlotKeys.any()
						.limit(20)
						.map((key) -> CompletableFuture.runAsync(() -> Increment.of(servers, key)))
						.toArray(CompletableFuture[]::new))
					.join();
			}
		}
		TestCluster.await("All is closed",
				() -> cluster.nodes().stream().noneMatch((node) -> node.admin().clientList().contains("name=closed ")));
		TestCluster.await("No thread is left",
				() -> Thread.getAllStackTraces()
					.keySet()
					.stream()
					.noneMatch((thread) -> thread.getName().startsWith("ratelimit") && !before.contains(thread)));
	}

}
