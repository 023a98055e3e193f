package io.github.ratelimit.redis.cluster;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.redis.connection.Connecting;
import io.github.ratelimit.redis.connection.Increment;
import io.github.ratelimit.redis.connection.ServerSettings;
import io.github.ratelimit.test.ClusterProxies;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.TestCluster;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.providers.ClusterConnectionProvider;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A node of a cluster has done what it was asked for, and its answer is lost: nothing is
 * asked for a second time. Or its connections are forgotten while nobody uses them:
 * nothing is lost.
 */
@Timeout(120)
class NodeLostReplyIT {

	/** A quarter of it is waited for each connection. Nightly builds wait for less. */
	private static final Duration BUDGET = Duration.ofMillis(Integer.getInteger("ratelimit.rested.budget", 4000));

	/** Longer than a connection is trusted. */
	private static final long REST = TimeUnit.MILLISECONDS.toNanos(1100);

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

	/** While the first call is on its way, the others wait, and are sent together. */
	@Test
	void batchWithLostReplyIsExecutedOnce() {
		String first = this.keys.get(0);
		List<String> keys = SlotKeys.of(CLUSTER, CLUSTER.master(SlotKeys.slot(first))).limit(20).toList();
		int rounds = 30;
		long doneAndLost = 0;
		for (int i = 0; i < rounds; i++) {
			// A node that answers nothing for long counts as gone.
			Connecting.awaitAnswer(this.servers, first);
			List<Long> before = keys.stream().map((key) -> SlotKeys.number(CLUSTER, key)).toList();
			proxyOf(first).loseAfter(1);
			List<Increment> calls = keys.stream()
				.map((key) -> Increment.submit(this.servers, Increment.LONG, key))
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

	@Test
	void callsToOtherNodesSucceedWhenOneReplyIsLost() {
		proxyOf(this.keys.get(1)).lose(1);
		List<Increment> calls = this.keys.stream()
			.map((key) -> Increment.submit(this.servers, Increment.LONG, key))
			.toList();
		Connecting.assertFails(Reason.NODE, calls.get(1)::await)
			.withMessageContaining(CLUSTER.master(SlotKeys.slot(this.keys.get(1))).address().toString());
		assertThat(calls.get(0).number()).isEqualTo(2);
		assertThat(calls.get(2).number()).isEqualTo(2);
	}

	@Test
	void connectionsToOtherNodesAreKeptWhenOneNodeStops() {
		String gone = this.keys.get(1);
		List<Integer> before = this.keys.stream().map((key) -> proxyOf(key).connections()).toList();
		proxyOf(gone).close();
		for (int i = 2; i < 30; i++) {
			Connecting.assertFails(Reason.NODE, () -> Increment.of(this.servers, gone));
			assertThat(Increment.of(this.servers, this.keys.get(0))).isEqualTo(i);
			assertThat(Increment.of(this.servers, this.keys.get(2))).isEqualTo(i);
		}
		// A second one may be needed for calls and for the slots at the same time.
		assertThat(proxyOf(this.keys.get(0)).connections()).isLessThanOrEqualTo(before.get(0) + 1);
		assertThat(proxyOf(this.keys.get(2)).connections()).isLessThanOrEqualTo(before.get(2) + 1);
	}

	/** As a firewall or a load balancer does, which says nothing to either side. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void callsSucceedWhenIdleConnectionsWereForgotten(boolean borrowed) {
		ServerSettings settings = Connecting.settings("cluster", BUDGET);
		JedisClientConfig config = this.proxies.config();
		try (ClusterConnectionProvider provider = new ClusterConnectionProvider(CLUSTER.addresses(), config);
				ClusterServers rested = borrowed ? ClusterServers.of(provider, settings, Connecting.NOBODY)
						: ClusterServers.of(CLUSTER.addresses(), config, settings, Connecting.NOBODY)) {
			this.keys.forEach((key) -> assertThat(Increment.of(rested, key)).isEqualTo(2));
			for (int i = 3; i <= 5; i++) {
				this.proxies.all().forEach(FaultyProxy::forgetConnections);
				long start = System.nanoTime();
				TestCluster.await("The connections have rested", () -> System.nanoTime() - start > REST);
				assertThat(this.keys.stream().map((key) -> Increment.submit(rested, BUDGET, key)).toList())
					.extracting(Increment::number)
					.containsOnly((long) i);
			}
		}
	}

}
