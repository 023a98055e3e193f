package io.github.ratelimit.redis.cluster;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.github.ratelimit.redis.connection.Connecting;
import io.github.ratelimit.redis.connection.ServerSettings;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.TestCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.providers.ClusterConnectionProvider;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Connections to the nodes of a cluster that were not used for a time, in which a
 * firewall or a load balancer has forgotten all of them, and says nothing to either side.
 */
@Timeout(120)
class RestedNodesIT {

	/** A quarter of it is waited for each connection. Nightly builds wait for less. */
	private static final Duration BUDGET = Duration.ofMillis(Integer.getInteger("ratelimit.rested.budget", 4000));

	/** Longer than a connection is trusted. */
	private static final long REST = TimeUnit.MILLISECONDS.toNanos(1100);

	private static final TestCluster CLUSTER = TestCluster.shared();

	private static final Map<HostAndPort, FaultyProxy> FIREWALLS = CLUSTER.addresses()
		.stream()
		.collect(Collectors.toMap((node) -> node, (node) -> new FaultyProxy(URI.create("redis://" + node))));

	private static final JedisClientConfig CONFIG = DefaultJedisClientConfig.builder()
		.hostAndPortMapper((node) -> new HostAndPort("127.0.0.1", FIREWALLS.get(node).uri().getPort()))
		.build();

	@AfterAll
	static void close() {
		FIREWALLS.values().forEach(FaultyProxy::close);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void callsSucceedWhenIdleConnectionsWereForgotten(boolean borrowed) {
		ServerSettings settings = Connecting.settings("cluster", BUDGET);
		List<String> keys = SlotKeys.onDifferentMasters(CLUSTER);
		try (ClusterConnectionProvider provider = new ClusterConnectionProvider(CLUSTER.addresses(), CONFIG);
				ClusterServers servers = borrowed ? ClusterServers.of(provider, settings, Connecting.NOBODY)
						: ClusterServers.of(CLUSTER.addresses(), CONFIG, settings, Connecting.NOBODY)) {
			keys.forEach((key) -> assertThat(Increment.of(servers, key)).isEqualTo(1));
			for (int i = 2; i <= 4; i++) {
				FIREWALLS.values().forEach(FaultyProxy::forgetConnections);
				long start = System.nanoTime();
				TestCluster.await("The connections have rested", () -> System.nanoTime() - start > REST);
				assertThat(keys.stream().map((key) -> Increment.submit(servers, BUDGET, key)).toList())
					.extracting(Increment::number)
					.containsOnly((long) i);
			}
		}
	}

}
