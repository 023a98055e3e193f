package io.github.ratelimit.redis.cluster;

import java.time.Duration;
import java.util.List;

import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.redis.connection.Connecting;
import io.github.ratelimit.redis.connection.ServerSettings;
import io.github.ratelimit.test.ClusterProxies;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.TestCluster;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A node of a cluster has done what it was asked for, and its answer is lost: nothing is
 * asked for a second time.
 */
class NodeLostReplyIT {

	private static final TestCluster CLUSTER = TestCluster.shared();

	private final ClusterProxies proxies = new ClusterProxies(CLUSTER);

	/** On different nodes. */
	private final List<String> keys = SlotKeys.onDifferentMasters(CLUSTER);

	private final ClusterServers servers = ClusterServers.of(CLUSTER.addresses(), this.proxies.config(),
			new ServerSettings("cluster", Duration.ofSeconds(5), 1, 100), Connecting.NOBODY);

	@BeforeEach
	void connect() {
		this.keys.forEach((key) -> assertThat(Increment.of(this.servers, key)).isOne());
	}

	@AfterEach
	void close() {
		this.servers.close();
		this.proxies.close();
	}

	private FaultyProxy proxyOf(String key) {
		return this.proxies.ofSlot(SlotKeys.slot(key));
	}

	/**
	 * The lost one may also be that to another question, such as which slots there are.
	 */
	@Test
	void callWithLostReplyIsExecutedOnce() {
		long doneAndLost = 0;
		for (int i = 0; i < 300; i++) {
			String key = this.keys.get(i % 3);
			// A node that answers nothing for long counts as gone.
			awaitAnswer(key);
			long before = SlotKeys.number(CLUSTER, key);
			proxyOf(key).lose(1);
			try {
				assertThat(Increment.of(this.servers, key)).isEqualTo(before + 1);
			}
			catch (JedisException ex) {
				long after = SlotKeys.number(CLUSTER, key);
				assertThat(after).isBetween(before, before + 1);
				doneAndLost += after - before;
			}
		}
		assertThat(doneAndLost).isGreaterThan(10);
	}

	/** While the first call is on its way, the others wait, and are sent together. */
	@Test
	void batchWithLostReplyIsExecutedOnce() {
		String first = this.keys.get(0);
		List<String> keys = SlotKeys.of(CLUSTER, CLUSTER.master(SlotKeys.slot(first))).limit(20).toList();
		int rounds = 30;
		long doneAndLost = 0;
		for (int i = 0; i < rounds; i++) {
			awaitAnswer(first);
			List<Long> before = keys.stream().map((key) -> SlotKeys.number(CLUSTER, key)).toList();
			proxyOf(first).loseAfter(1);
			List<Increment> calls = keys.stream()
				.map((key) -> Increment.submit(this.servers, Duration.ofSeconds(20), key))
				.toList();
			for (int k = 0; k < calls.size(); k++) {
				try {
					assertThat(calls.get(k).number()).isEqualTo(before.get(k) + 1);
				}
				catch (JedisException ex) {
					long after = SlotKeys.number(CLUSTER, keys.get(k));
					assertThat(after).isBetween(before.get(k), before.get(k) + 1);
					doneAndLost += after - before.get(k);
				}
			}
			proxyOf(first).lose(0);
		}
		assertThat(doneAndLost).as("several calls are lost at once").isGreaterThan(2 * rounds);
	}

	private void awaitAnswer(String key) {
		TestCluster.await("The node answers", () -> {
			try {
				return Increment.of(this.servers, key) > 0;
			}
			catch (JedisException ex) {
				return false;
			}
		});
	}

	@Test
	void callsToOtherNodesSucceedWhenOneReplyIsLost() {
		proxyOf(this.keys.get(1)).lose(1);
		List<Increment> calls = this.keys.stream()
			.map((key) -> Increment.submit(this.servers, Duration.ofSeconds(20), key))
			.toList();
		Connecting.assertFails(Reason.NODE, calls.get(1)::await)
			.withMessageContaining(CLUSTER.master(SlotKeys.slot(this.keys.get(1))).address().toString());
		assertThat(calls.get(0).number()).isEqualTo(2);
		assertThat(calls.get(2).number()).isEqualTo(2);
	}

	@Test
	void connectionsToOtherNodesAreKeptWhenOneNodeStops() {
		String gone = this.keys.get(1);
		List<Long> before = this.keys.stream().map(NodeLostReplyIT::connections).toList();
		proxyOf(gone).close();
		for (int i = 2; i < 30; i++) {
			Connecting.assertFails(Reason.NODE, () -> Increment.of(this.servers, gone));
			assertThat(Increment.of(this.servers, this.keys.get(0))).isEqualTo(i);
			assertThat(Increment.of(this.servers, this.keys.get(2))).isEqualTo(i);
		}
		// A second one may be needed for calls and for the slots at the same time.
		assertThat(connections(this.keys.get(0))).isLessThanOrEqualTo(before.get(0) + 1);
		assertThat(connections(this.keys.get(2))).isLessThanOrEqualTo(before.get(2) + 1);
	}

	private static long connections(String key) {
		return CLUSTER.master(SlotKeys.slot(key))
			.admin()
			.info("stats")
			.lines()
			.filter((line) -> line.startsWith("total_connections_received:"))
			.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf(':') + 1)))
			.findFirst()
			.orElseThrow();
	}

}
