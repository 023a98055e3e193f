package io.github.ratelimit.redis.cluster;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.redis.connection.CallException;
import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.redis.connection.Connecting;
import io.github.ratelimit.redis.connection.Increment;
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
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.providers.ClusterConnectionProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Nodes that come and go, for connections of one's own and for those of the application,
 * and slots that move. That counts go on meanwhile is in {@code ClusterMigrationIT}.
 */
class ChangingNodesIT {

	private static final ServerSettings SETTINGS = Connecting.settings("cluster", Duration.ofSeconds(5));

	private static final String NAME = "ratelimit-" + ProcessHandle.current().pid();

	private static final JedisClientConfig CONFIG = DefaultJedisClientConfig.builder().clientName(NAME).build();

	private static TestCluster cluster;

	private final String key = SlotKeys.any().findFirst().orElseThrow();

	private final int slot = SlotKeys.slot(this.key);

	private final Node from = cluster.master(this.slot);

	private final Node to = cluster.otherMasters(this.slot).get(0);

	@BeforeAll
	static void start() {
		cluster = TestCluster.start();
	}

	@AfterAll
	static void stop() {
		cluster.close();
	}

	private static ClusterServers connect(JedisClientConfig config) {
		return ClusterServers.of(cluster.addresses(), config, SETTINGS, Connecting.NOBODY);
	}

	private static ClusterConnectionProvider provider() {
		return new ClusterConnectionProvider(Set.of(cluster.nodes().get(0).address()), CONFIG);
	}

	private static long connections(Node node) {
		return node.admin().clientList().lines().filter((line) -> line.contains("name=" + NAME)).count();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void newNodeIsUsedWhileItHasSlots(boolean ofApplication) {
		try (ClusterConnectionProvider provider = provider();
				ClusterServers servers = ofApplication ? ClusterServers.of(provider, SETTINGS, Connecting.NOBODY)
						: connect(CONFIG)) {
			assertThat(Increment.of(servers, this.key)).isEqualTo(1);
			Node node = cluster.addMaster();
			TestCluster.beginToMove(this.slot, this.from, node);
			assertThat(Increment.of(servers, this.key + "created")).isEqualTo(1);
			cluster.endMove(this.slot, this.from, node);
			assertThat(Increment.of(servers, this.key)).isEqualTo(2);
			assertThat(connections(node)).isPositive();
			TestCluster.beginToMove(this.slot, node, this.from);
			cluster.endMove(this.slot, node, this.from);
			assertThat(Increment.of(servers, this.key)).isEqualTo(3);
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
			assertThat(Increment.of(servers, this.key)).isOne();
			provider.close();
			assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(servers, this.key))
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
			List<Connection> held = Stream.generate(() -> provider.getConnection(node)).limit(8).toList();
			Increment waits = Increment.submit(servers, Increment.LONG, keys.get(0));
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
		try (ClusterServers servers = connect(config)) {
			assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(servers, this.key));
			up.set(true);
			Connecting.awaitAnswer(servers, this.key);
			assertThat(Increment.of(servers, this.key)).isEqualTo(2);
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
			Increment.submit(servers, Increment.LONG, this.key);
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
			try (ClusterServers servers = connect(config)) {
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

	/** Only together do they have Redis keys at two nodes. */
	@Test
	void sharedBatchSucceedsWhileItsSlotMoves() {
		List<String> keys = SlotKeys.any()
			.limit(1)
			.flatMap((first) -> IntStream.range(0, 6).mapToObj((i) -> first + i))
			.toList();
		this.from.admin().flushAll();
		try (ClusterServers servers = connect(CONFIG)) {
			keys.subList(0, 3).forEach((each) -> Increment.of(servers, each));
			TestCluster.beginToMove(this.slot, this.from, this.to);
			try {
				for (long number = 1; number <= 3; number++) {
					assertThat(together(servers, keys)).containsExactly(number + 1, number + 1, number + 1, number,
							number, number);
					TestCluster.moveKeys(this.slot, this.from, this.to, 1);
				}
			}
			finally {
				cluster.endMove(this.slot, this.from, this.to);
			}
			assertThat(together(servers, keys)).containsExactly(5L, 5L, 5L, 4L, 4L, 4L);
		}
	}

	private static List<Long> together(ClusterServers servers, List<String> keys) {
		List<Increment> calls = keys.stream().map((key) -> Increment.submit(servers, Increment.LONG, key)).toList();
		return calls.stream().map(Increment::number).toList();
	}

	@Test
	void callFailsWhenNodesRedirectItForEver() {
		try (ClusterServers servers = connect(CONFIG)) {
			Increment.of(servers, this.key);
			this.from.admin().flushAll();
			this.from.admin().clusterSetSlotNode(this.slot, this.to.id());
			try {
				Connecting.assertFails(Reason.NODE, () -> Increment.of(servers, this.key))
					.withMessageContaining("do not agree")
					.withCauseInstanceOf(CallException.class);
			}
			finally {
				this.from.admin().clusterSetSlotNode(this.slot, this.from.id());
			}
			assertThat(Increment.of(servers, this.key)).isEqualTo(1);
		}
	}

	@Test
	void callFailsWhenNoNodeHasItsSlot() {
		cluster.nodes().forEach((node) -> node.admin().configSet("cluster-require-full-coverage", "no"));
		try (ClusterServers servers = connect(CONFIG)) {
			Increment.of(servers, SlotKeys.onDifferentMasters(cluster).get(0));
			this.from.admin().clusterDelSlots(this.slot);
			try {
				assertThatExceptionOfType(JedisDataException.class).isThrownBy(() -> Increment.of(servers, this.key))
					.withMessageContaining("CLUSTERDOWN");
				TestCluster.await("It is known that no node has it",
						() -> failure(servers) instanceof CallException ex && ex.reason() == Reason.NODE);
			}
			finally {
				this.from.admin().clusterAddSlots(this.slot);
			}
			TestCluster.await("It is known that a node has it", () -> failure(servers) == null);
			assertThat(Increment.of(servers, this.key)).isEqualTo(2);
		}
	}

	private Throwable failure(ClusterServers servers) {
		return catchThrowable(() -> Increment.of(servers, this.key));
	}

}
