package io.github.ratelimit.redis.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.redis.connection.CallException;
import io.github.ratelimit.redis.connection.Connecting;
import io.github.ratelimit.redis.connection.Events;
import io.github.ratelimit.redis.connection.Increment;
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
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Nodes of a cluster hang, and no replica takes over.
 */
@SuppressWarnings("try")
class NodeOutageIT {

	private static final Duration BUDGET = Duration.ofMillis(300);

	private static TestCluster cluster;

	private final Events events = new Events();

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
				Connecting.settings("cluster", BUDGET), this.events);
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
		return Connecting.tryIt(() -> Increment.submit(this.servers, BUDGET.multipliedBy(2), key)) > 0;
	}

	private StoppedServer stop(Node node) {
		return StoppedServer.stop(node.admin().info("server"));
	}

	@Test
	void onlyCallsToTheNodeThatHangsFail() {
		String hung = this.keys.get(1);
		AtomicBoolean done = new AtomicBoolean();
		try (StoppedServer stopped = stop(cluster.master(SlotKeys.slot(hung)))) {
			assertThatExceptionOfType(JedisException.class).isThrownBy(() -> increment(hung));
			for (int i = 0; i < 100; i++) {
				Connecting.assertFails(Reason.NODE, () -> increment(hung))
					.withMessageContaining(cluster.nodes().get(0).address().getHost())
					.havingCause()
					.returns(Reason.OUTAGE, (cause) -> ((CallException) cause).reason());
			}
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
		assertThat(this.events.all()).isEmpty();
		TestCluster.await("The node answers again", () -> isDone(hung));
	}

	@Test
	void itIsAnOutageWhenNoNodeAnswers() {
		List<StoppedServer> stopped = new ArrayList<>();
		try {
			List<String> servers = cluster.nodes().stream().map((node) -> node.admin().info("server")).toList();
			servers.forEach((server) -> stopped.add(StoppedServer.stop(server)));
			TestCluster.await("Nothing is told of a single node any more",
					() -> !isOfOneNode(failure(this.keys.get(0))) && this.events.all().contains("opened"));
			this.keys.forEach((key) -> assertThat(failure(key)).matches((ex) -> !isOfOneNode(ex)));
		}
		finally {
			stopped.forEach(StoppedServer::close);
		}
		TestCluster.await("All nodes answer again", () -> this.keys.stream().allMatch(this::isDone));
		this.events.await("closed", 1);
		assertThat(this.events.all()).containsExactly("opened", "closed");
	}

	private JedisException failure(String key) {
		return catchThrowableOfType(JedisException.class, () -> increment(key));
	}

	private static boolean isOfOneNode(JedisException ex) {
		return ex instanceof CallException call && call.reason() == Reason.NODE;
	}

}
