package io.github.ratelimit.redis.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.redis.connection.CallException;
import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.redis.connection.Connecting;
import io.github.ratelimit.redis.connection.Listener;
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
import redis.clients.jedis.util.SafeEncoder;

import static org.assertj.core.api.Assertions.assertThat;

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
				.map((key) -> Increment.submit(servers, Duration.ofSeconds(20), key))
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
				assertThat(keys.stream().map((key) -> Increment.submit(servers, Duration.ofSeconds(20), key)).toList())
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

	@Test
	void redisKeysWithTheSameTagShareASlot() {
		try (ClusterServers servers = connect(CLUSTER.addresses())) {
			assertThat(servers.slot(SafeEncoder.encode("a:{alice}:b"))).isEqualTo(SlotKeys.slot("alice"))
				.isNotEqualTo(servers.slot(SafeEncoder.encode("a:{bob}:b")));
		}
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
				Connecting.assertNotSent(() -> Increment.of(servers, "any"))
					.withMessageContaining(nobody.toString())
					.withCauseInstanceOf(JedisException.class)
					.returns(Reason.OUTAGE, CallException::reason);
			}
		}
	}

	@Test
	void numberOfCallsWaitingForSlotsIsBounded() throws IOException {
		AtomicInteger overloaded = new AtomicInteger();
		Listener overloads = new Listener() {

			@Override
			public void overloaded() {
				overloaded.incrementAndGet();
			}

		};
		try (ServerSocket hung = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
				ClusterServers servers = ClusterServers.of(Set.of(new HostAndPort("127.0.0.1", hung.getLocalPort())),
						CONFIG, new ServerSettings("cluster", Duration.ofSeconds(60), 2, 10), overloads)) {
			List<Increment> calls = Stream.generate(() -> Increment.submit(servers, Duration.ofMillis(300), "any"))
				.limit(15)
				.toList();
			assertThat(calls.stream().map(ClusterServersIT::reason).collect(Collectors.groupingBy((reason) -> reason)))
				.satisfies((reasons) -> assertThat(reasons.get(Reason.QUEUE_FULL)).hasSize(5))
				.satisfies((reasons) -> assertThat(reasons.get(Reason.TOO_LATE)).hasSize(10));
			assertThat(overloaded).hasValue(5);
		}
	}

	private static Reason reason(Increment call) {
		try {
			call.await();
			throw new AssertionError("It was done");
		}
		catch (CallException ex) {
			return ex.reason();
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
				Connecting.assertNotSent(() -> Increment.of(servers, TestRedis.newKeyPrefix()));
			}
			full.set(false);
			TestCluster.await("The slots are known", () -> isAnswered(servers));
		}
	}

	private static boolean isAnswered(ClusterServers servers) {
		try {
			return Increment.of(servers, TestRedis.newKeyPrefix()) == 1;
		}
		catch (CallException ex) {
			return false;
		}
	}

	@Test
	void waitingCallsFailWhenTheClusterIsClosed() throws IOException {
		try (ServerSocket hung = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
			ClusterServers servers = ClusterServers.of(Set.of(new HostAndPort("127.0.0.1", hung.getLocalPort())),
					CONFIG, Connecting.settings("cluster", Duration.ofSeconds(60)), Connecting.NOBODY);
			Increment waits = Increment.submit(servers, Duration.ofSeconds(60), "any");
			servers.close();
			Connecting.assertNotSent(waits::await)
				.withMessageContaining("closed")
				.returns(Reason.OUTAGE, CallException::reason);
		}
	}

	@Test
	void callsFailWhenItHasBeenClosed() {
		ClusterServers servers = connect(CLUSTER.addresses());
		assertThat(Increment.of(servers, TestRedis.newKeyPrefix())).isOne();
		servers.close();
		Connecting.assertNotSent(() -> Increment.of(servers, TestRedis.newKeyPrefix()))
			.returns(Reason.OUTAGE, CallException::reason);
		ClusterServers unused = connect(CLUSTER.addresses());
		unused.close();
		Connecting.assertNotSent(() -> Increment.of(unused, TestRedis.newKeyPrefix())).withMessageContaining("closed");
	}

}
