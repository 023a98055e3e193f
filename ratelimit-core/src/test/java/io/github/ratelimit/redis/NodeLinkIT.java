package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.redis.Batch.Session;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestCluster.Node;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisMovedDataException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Connections of plain commands to the nodes of a cluster.
 */
class NodeLinkIT {

	private static final TestCluster CLUSTER = TestCluster.shared();

	private final Nodes nodes = new Nodes();

	private final Cluster cluster = new Cluster(this.nodes);

	private final String key = new RedisKeys(TestRedis.newKeyPrefix()).blocks(Identifier.user("alice"));

	private final int slot = Slots.slot(this.key);

	private final Node from = CLUSTER.master(this.slot);

	private final Node to = CLUSTER.otherMasters(this.slot).get(0);

	/** Connections to real nodes, of which one can be out of reach. */
	private static final class Nodes implements NodeConnections {

		private final NodeConnections real = new BudgetedNodes(Duration.ofSeconds(10), CLUSTER.addresses(),
				DefaultJedisClientConfig.builder().build(), new ConnectionPoolConfig());

		private final List<HostAndPort> connected = new ArrayList<>();

		private HostAndPort outOfReach = new HostAndPort("", 0);

		@Override
		public List<HostAndPort> nodes() {
			return this.real.nodes();
		}

		@Override
		public Connection connect(HostAndPort node, String key) {
			if (node.equals(this.outOfReach)) {
				throw new JedisConnectionException("Out of reach");
			}
			if (!key.isEmpty()) {
				this.connected.add(node);
			}
			return this.real.connect(node, key);
		}

		@Override
		public void failed(HostAndPort node) {
			this.real.failed(node);
		}

		@Override
		public void retain(Set<HostAndPort> nodes) {
			this.real.retain(nodes);
		}

		@Override
		public void close() {
			this.real.close();
		}

	}

	@AfterEach
	void close() {
		this.cluster.close();
	}

	private static Batch read(String key) {
		Batch batch = new Batch();
		batch.add(Command.GET, key);
		return batch;
	}

	/** Twice would give it to two others, who would read each other's answers. */
	@Test
	void connectionIsReturnedOnceIfTheNodeThatHasTheSlotNowIsOutOfReach() {
		Session session = new Session(this.cluster.links(List.of(this.key)).get(0));
		this.nodes.outOfReach = this.to.address();
		TestCluster.beginToMove(this.slot, this.from, this.to);
		CLUSTER.endMove(this.slot, this.from, this.to);
		try {
			assertThatExceptionOfType(JedisConnectionException.class)
				.isThrownBy(() -> session.transact(read(this.key)));
		}
		finally {
			TestCluster.beginToMove(this.slot, this.to, this.from);
			CLUSTER.endMove(this.slot, this.to, this.from);
		}
		try (Connection ofAnother = this.nodes.connect(this.from.address(), this.key)) {
			session.close();
			try (Connection ofAThird = this.nodes.connect(this.from.address(), this.key)) {
				assertThat(ofAThird).isNotSameAs(ofAnother);
			}
		}
	}

	/** As with {@code cluster-preferred-endpoint-type unknown-endpoint}. */
	@Test
	void nodeThatIsNamedWithoutItsHostHasThatOfTheOneThatNamesIt() {
		Link link = this.cluster.links(List.of(this.key)).get(0);
		HostAndPort address = this.to.address();
		link.follow(new JedisMovedDataException("MOVED", new HostAndPort("", address.getPort()), this.slot));
		assertThat(this.nodes.connected).containsExactly(this.from.address(), address);
		link.close();
	}

}
