package io.github.ratelimit.redis.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import io.github.ratelimit.redis.connection.CallException;
import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.redis.connection.Connecting;
import io.github.ratelimit.redis.connection.Events;
import io.github.ratelimit.redis.connection.Increment;
import io.github.ratelimit.redis.connection.ServerSettings;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.providers.ClusterConnectionProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Calls to a cluster whose nodes are all well.
 */
class ClusterServersIT {

	private static final TestCluster CLUSTER = TestCluster.shared();

	private static final ServerSettings SETTINGS = Connecting.settings("cluster", Duration.ofSeconds(1));

	private static final JedisClientConfig CONFIG = DefaultJedisClientConfig.builder().build();

	private static ClusterServers connect(Set<HostAndPort> seeds) {
		return ClusterServers.of(seeds, CONFIG, SETTINGS, Connecting.NOBODY);
	}

	@Test
	void everyCallReachesTheNodeThatHasItsSlot() {
		long before = moved();
		try (ClusterServers servers = connect(Set.of(CLUSTER.nodes().get(0).address()))) {
			// The first ones wait until the slots are known.
			List<Increment> calls = SlotKeys.any()
				.limit(300)
				.map((key) -> Increment.submit(servers, Increment.LONG, key))
				.toList();
			assertThat(calls).extracting(Increment::number).containsOnly(1L);
		}
		assertThat(moved()).isEqualTo(before);
	}

	private static long moved() {
		return CLUSTER.nodes()
			.stream()
			.flatMap((node) -> node.admin().info("errorstats").lines())
			.filter((line) -> line.startsWith("errorstat_MOVED:count="))
			.mapToLong((line) -> Long.parseLong(line.replaceAll("\\D", "")))
			.sum();
	}

	@Test
	void nothingRemainsOfNodesUntilTheNextCall() {
		List<String> keys = SlotKeys.onDifferentMasters(CLUSTER);
		TestCluster.await("Other tests have left no thread", () -> lanes() == 0);
		try (ClusterServers servers = connect(CLUSTER.addresses())) {
			for (long i = 1; i <= 3; i++) {
				assertThat(keys.stream().map((key) -> Increment.submit(servers, Increment.LONG, key)).toList())
					.extracting(Increment::number)
					.containsOnly(i);
				assertThat(lanes()).isGreaterThanOrEqualTo(keys.size());
				servers.disconnect();
				assertThat(lanes()).isZero();
			}
		}
	}

	/** They have the names of their nodes. */
	private static long lanes() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.map(Thread::getName)
			.filter((name) -> CLUSTER.addresses().stream().anyMatch((node) -> name.contains(node.toString())))
			.count();
	}

	/** It accepts connections, and says nothing. */
	@Test
	void firstCallDoesNotWaitForANodeThatHangs() throws IOException {
		try (ServerSocket hung = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
			Set<HostAndPort> seeds = Set.of(CLUSTER.nodes().get(0).address(),
					new HostAndPort("127.0.0.1", hung.getLocalPort()));
			for (int i = 0; i < 10; i++) {
				long start = System.nanoTime();
				try (ClusterServers servers = connect(seeds)) {
					assertThat(Increment.of(servers, TestRedis.newKeyPrefix())).isOne();
				}
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(SETTINGS.budget());
			}
		}
	}

	@Test
	void callsFailAtOnceWhileNoNodeCanBeReached() {
		HostAndPort nobody = new HostAndPort("127.0.0.1", TestRedis.freePort());
		try (ClusterServers servers = connect(Set.of(nobody))) {
			for (int i = 0; i < 3; i++) {
				Connecting.assertFails(Reason.OUTAGE, () -> Increment.of(servers, "any"))
					.withMessageContaining(nobody.toString())
					.withCauseInstanceOf(JedisException.class);
			}
		}
	}

	@Test
	void numberOfCallsWaitingForSlotsIsBounded() throws IOException {
		Events events = new Events();
		try (ServerSocket hung = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
				ClusterServers servers = ClusterServers.of(Set.of(new HostAndPort("127.0.0.1", hung.getLocalPort())),
						CONFIG, new ServerSettings("cluster", Duration.ofSeconds(60), 2, 10), events)) {
			List<Increment> calls = Stream.generate(() -> Increment.submit(servers, Duration.ofMillis(300), "any"))
				.limit(15)
				.toList();
			assertThat(calls.stream().map((call) -> catchThrowableOfType(CallException.class, call::await).reason()))
				.containsOnly(Reason.QUEUE_FULL, Reason.TOO_LATE)
				.filteredOn(Reason.QUEUE_FULL::equals)
				.hasSize(5);
			assertThat(events.all()).filteredOn("overloaded"::equals).hasSize(5);
		}
	}

	/** The thread that asks for the slots is the only one. */
	@Test
	void slotsAreReadAlthoughMemoryWasShort() {
		AtomicBoolean full = new AtomicBoolean(true);
		ClusterConnectionProvider provider = new ClusterConnectionProvider(CLUSTER.addresses(), CONFIG) {

			@Override
			public Map<String, ConnectionPool> getNodes() {
				if (full.get()) {
					throw new OutOfMemoryError("of a test");
				}
				return super.getNodes();
			}

		};
		try (provider; ClusterServers servers = ClusterServers.of(provider, SETTINGS, Connecting.NOBODY)) {
			for (int i = 0; i < 2; i++) {
				Connecting.assertFails(Reason.OUTAGE, () -> Increment.of(servers, TestRedis.newKeyPrefix()));
			}
			full.set(false);
			Connecting.awaitAnswer(servers, TestRedis.newKeyPrefix());
		}
	}

	@Test
	void waitingCallsFailWhenTheClusterIsClosed() throws IOException {
		try (ServerSocket hung = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
			ClusterServers servers = ClusterServers.of(Set.of(new HostAndPort("127.0.0.1", hung.getLocalPort())),
					CONFIG, Connecting.settings("cluster", Duration.ofSeconds(60)), Connecting.NOBODY);
			Increment waits = Increment.submit(servers, Increment.LONG, "any");
			servers.close();
			Connecting.assertFails(Reason.OUTAGE, waits::await).withMessageContaining("closed");
		}
	}

	@Test
	void callsFailWhenItHasBeenClosed() {
		ClusterServers servers = connect(CLUSTER.addresses());
		assertThat(Increment.of(servers, TestRedis.newKeyPrefix())).isOne();
		servers.close();
		Connecting.assertFails(Reason.OUTAGE, () -> Increment.of(servers, TestRedis.newKeyPrefix()));
		ClusterServers unused = connect(CLUSTER.addresses());
		unused.close();
		Connecting.assertFails(Reason.OUTAGE, () -> Increment.of(unused, TestRedis.newKeyPrefix()))
			.withMessageContaining("closed");
	}

}
