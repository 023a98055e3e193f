package io.github.ratelimit.redis.cluster;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import io.github.ratelimit.redis.connection.CallException;
import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.redis.connection.Connecting;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestCluster.Node;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.exceptions.JedisDataException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Slots that move to other nodes, while and after they do.
 */
class SlotMigrationIT {

	private static TestCluster cluster;

	private final String key = SlotKeys.any().findFirst().orElseThrow();

	private final int slot = SlotKeys.slot(this.key);

	private ClusterServers servers;

	private Node from;

	private Node to;

	@BeforeAll
	static void start() {
		cluster = TestCluster.start();
	}

	@AfterAll
	static void stop() {
		cluster.close();
	}

	/** It knows where everything is before it moves. */
	@BeforeEach
	void connect() {
		this.servers = ClusterServers.of(cluster.addresses(), DefaultJedisClientConfig.builder().build(),
				Connecting.settings("cluster", Duration.ofSeconds(10)), Connecting.NOBODY);
		SlotKeys.onDifferentMasters(cluster).forEach((key) -> Increment.of(this.servers, key));
		cluster.nodes().stream().filter(Node::isMaster).forEach((node) -> node.admin().flushAll());
		this.from = cluster.master(this.slot);
		this.to = cluster.otherMasters(this.slot).get(0);
	}

	@AfterEach
	void close() {
		this.servers.close();
	}

	/**
	 * New Redis keys are created where the slot goes, old ones are used where they are.
	 */
	@Test
	void callFollowsASlotThatIsMoving() {
		String created = this.key + "created";
		assertThat(Increment.of(this.servers, this.key)).isEqualTo(1);
		TestCluster.beginToMove(this.slot, this.from, this.to);
		try {
			assertThat(Increment.of(this.servers, created)).isEqualTo(1);
			assertThat(Increment.of(this.servers, this.key)).isEqualTo(2);
			TestCluster.moveKeys(this.slot, this.from, this.to, 1);
			assertThat(Increment.of(this.servers, this.key)).isEqualTo(3);
			assertThat(Increment.of(this.servers, created)).isEqualTo(2);
		}
		finally {
			cluster.endMove(this.slot, this.from, this.to);
		}
		assertThat(Increment.of(this.servers, created, this.key)).isEqualTo(3);
	}

	/** Only together do they have Redis keys at two nodes. */
	@Test
	void sharedBatchSucceedsWhileItsSlotMoves() {
		List<String> keys = SlotKeys.any()
			.limit(1)
			.flatMap((first) -> IntStream.range(0, 6).mapToObj((i) -> first + i))
			.toList();
		keys.subList(0, 3).forEach((key) -> Increment.of(this.servers, key));
		TestCluster.beginToMove(this.slot, this.from, this.to);
		try {
			for (int moved = 0; moved < 3; moved++) {
				long expected = moved + 1;
				assertThat(together(keys)).containsExactly(expected + 1, expected + 1, expected + 1, expected, expected,
						expected);
				TestCluster.moveKeys(this.slot, this.from, this.to, 1);
			}
		}
		finally {
			cluster.endMove(this.slot, this.from, this.to);
		}
		assertThat(together(keys)).containsExactly(5L, 5L, 5L, 4L, 4L, 4L);
	}

	private List<Long> together(List<String> keys) {
		List<Increment> calls = keys.stream()
			.map((key) -> Increment.submit(this.servers, Duration.ofSeconds(20), key))
			.toList();
		return calls.stream().map(Increment::number).toList();
	}

	@Test
	void callWhoseRedisKeysAreAtTwoNodesFails() {
		String other = this.key + "other";
		Increment.of(this.servers, this.key);
		TestCluster.beginToMove(this.slot, this.from, this.to);
		try {
			Increment.of(this.servers, other);
			assertThatExceptionOfType(JedisDataException.class)
				.isThrownBy(() -> Increment.of(this.servers, this.key, other))
				.withMessageStartingWith("TRYAGAIN");
		}
		finally {
			cluster.endMove(this.slot, this.from, this.to);
		}
		assertThat(Increment.of(this.servers, this.key, other)).isEqualTo(2);
	}

	@Test
	void callFailsWhenNodesRedirectItForEver() {
		this.from.admin().clusterSetSlotNode(this.slot, this.to.id());
		try {
			Connecting.assertFails(Reason.NODE, () -> Increment.of(this.servers, this.key))
				.withMessageContaining("do not agree")
				.withCauseInstanceOf(CallException.class);
		}
		finally {
			this.from.admin().clusterSetSlotNode(this.slot, this.from.id());
		}
		assertThat(Increment.of(this.servers, this.key)).isEqualTo(1);
	}

	@Test
	void callFailsWhenNoNodeHasItsSlot() {
		cluster.nodes().forEach((node) -> node.admin().configSet("cluster-require-full-coverage", "no"));
		this.from.admin().clusterDelSlots(this.slot);
		try {
			assertThatExceptionOfType(JedisDataException.class).isThrownBy(() -> Increment.of(this.servers, this.key))
				.withMessageContaining("CLUSTERDOWN");
			TestCluster.await("It is known that no node has it", () -> {
				try {
					Increment.of(this.servers, this.key);
					return false;
				}
				catch (CallException ex) {
					assertThat(ex.reason()).isEqualTo(Reason.NODE);
					return true;
				}
				catch (JedisDataException ex) {
					return false;
				}
			});
		}
		finally {
			this.from.admin().clusterAddSlots(this.slot);
		}
		TestCluster.await("It is known that a node has it", () -> {
			try {
				return Increment.of(this.servers, this.key) == 1;
			}
			catch (CallException ex) {
				assertThat(ex.reason()).isEqualTo(Reason.NODE);
				return false;
			}
		});
	}

}
