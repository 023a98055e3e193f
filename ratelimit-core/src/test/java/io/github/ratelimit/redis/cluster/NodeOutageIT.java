package io.github.ratelimit.redis.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.redis.connection.CallException;
import io.github.ratelimit.redis.connection.Connecting;
import io.github.ratelimit.redis.connection.Listener;
import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestCluster.Node;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.exceptions.JedisException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Nodes of a cluster hang, and no replica takes over.
 */
@SuppressWarnings("try")
class NodeOutageIT {

	private static final Duration BUDGET = Duration.ofMillis(300);

	private static TestCluster cluster;

	private final Outages outages = new Outages();

	private ClusterServers servers;

	/** On different masters. */
	private List<String> keys;

	@BeforeAll
	static void start() {
		cluster = TestCluster.start("cluster-node-timeout 60000", "cluster-require-full-coverage no");
	}

	@AfterAll
	static void stop() {
		cluster.close();
	}

	@BeforeEach
	void connect() {
		this.keys = SlotKeys.onDifferentMasters(cluster);
		this.servers = ClusterServers.of(cluster.addresses(), DefaultJedisClientConfig.builder().build(),
				Connecting.settings("cluster", BUDGET), this.outages);
		this.keys.forEach((key) -> Increment.of(this.servers, key));
	}

	@AfterEach
	void close() {
		this.servers.close();
	}

	private long increment(String key) {
		return Increment.submit(this.servers, BUDGET.multipliedBy(2), key).number();
	}

	private boolean isDone(String key) {
		try {
			increment(key);
			return true;
		}
		catch (JedisException ex) {
			return false;
		}
	}

	private StoppedServer stop(Node node) {
		return StoppedServer.stop(node.admin().info("server"));
	}

	@Test
	void callsToOtherNodesSucceedWhileOneHangs() {
		String hung = this.keys.get(1);
		AtomicBoolean done = new AtomicBoolean();
		try (StoppedServer stopped = stop(cluster.master(SlotKeys.slot(hung)))) {
			CompletableFuture<Void> load = CompletableFuture.runAsync(() -> {
				while (!done.get()) {
					isDone(hung);
				}
			});
			for (int i = 2; i < 500; i++) {
				assertThat(increment(this.keys.get(0))).isEqualTo(i);
				assertThat(increment(this.keys.get(2))).isEqualTo(i);
			}
			done.set(true);
			load.join();
		}
		assertThat(this.outages.opened).hasValue(0);
		TestCluster.await("The node answers again", () -> isDone(hung));
	}

	@Test
	void callsToANodeThatHangsAreSentOnlyOnce() {
		String hung = this.keys.get(1);
		try (StoppedServer stopped = stop(cluster.master(SlotKeys.slot(hung)))) {
			assertThatExceptionOfType(JedisException.class).isThrownBy(() -> increment(hung));
			for (int i = 0; i < 100; i++) {
				Connecting.assertFails(Reason.NODE, () -> increment(hung))
					.withMessageContaining(cluster.nodes().get(0).address().getHost())
					.havingCause()
					.returns(Reason.OUTAGE, (cause) -> ((CallException) cause).reason());
			}
			assertThat(increment(this.keys.get(0))).isEqualTo(2);
		}
		TestCluster.await("The node answers again", () -> isDone(hung));
		assertThat(this.outages.opened).hasValue(0);
	}

	@Test
	void itIsAnOutageWhenNoNodeAnswers() {
		List<StoppedServer> stopped = new ArrayList<>();
		try {
			List<String> servers = cluster.nodes().stream().map((node) -> node.admin().info("server")).toList();
			servers.forEach((server) -> stopped.add(StoppedServer.stop(server)));
			TestCluster.await("Nothing is told of a single node any more", () -> {
				try {
					increment(this.keys.get(0));
					throw new AssertionError("It was done");
				}
				catch (JedisException ex) {
					return !isOfOneNode(ex) && this.outages.opened.get() > 0;
				}
			});
			this.keys.forEach((key) -> assertThatExceptionOfType(JedisException.class).isThrownBy(() -> increment(key))
				.matches((ex) -> !isOfOneNode(ex)));
		}
		finally {
			stopped.forEach(StoppedServer::close);
		}
		TestCluster.await("All nodes answer again", () -> this.keys.stream().allMatch(this::isDone));
		assertThat(this.outages.opened).hasValue(1);
		TestCluster.await("It is told", () -> this.outages.closed.get() == 1);
	}

	/** Counts them. */
	private static final class Outages implements Listener {

		private final AtomicInteger opened = new AtomicInteger();

		private final AtomicInteger closed = new AtomicInteger();

		@Override
		public void opened(JedisException cause) {
			this.opened.incrementAndGet();
		}

		@Override
		public void closed(Duration duration) {
			this.closed.incrementAndGet();
		}

	}

	private static boolean isOfOneNode(JedisException ex) {
		return ex instanceof CallException call && call.reason() == Reason.NODE;
	}

}
