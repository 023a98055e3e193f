package io.github.ratelimit.redis.cluster;

import java.util.Collection;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.ConnectionSource;
import io.github.ratelimit.redis.connection.Listener;
import io.github.ratelimit.redis.connection.ServerSettings;
import io.github.ratelimit.redis.connection.Servers;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.providers.ClusterConnectionProvider;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * The nodes of a cluster: each call is sent to the one that has its slot. Which one that
 * is, is read in the background; calls that come before it is known wait for it. What a
 * node has not done because the slot is elsewhere is sent on there. Nothing else is sent
 * a second time.
 * <p>
 * A node that does not answer fails its calls with a {@link NodeException} as long as
 * another one answers.
 */
public final class ClusterServers implements Servers {

	private final Nodes nodes;

	private final Topology topology;

	private ClusterServers(Supplier<Collection<HostAndPort>> seeds, Function<HostAndPort, ConnectionSource> sources,
			ServerSettings settings, Listener listener) {
		this.nodes = new Nodes(seeds, sources, settings, listener, this::changed);
		this.topology = new Topology(this.nodes, settings.maxWaiting());
	}

	/**
	 * Makes connections of its own to the nodes of a cluster. Connects to nothing yet.
	 * @param seeds some nodes, at least one
	 * @param config how to connect to each node
	 * @param settings how each node is used
	 * @param listener learns of the calls to all nodes, and when no node answers
	 * @return the nodes, which have to be closed
	 */
	public static ClusterServers of(Set<HostAndPort> seeds, JedisClientConfig config, ServerSettings settings,
			Listener listener) {
		Set<HostAndPort> given = Set.copyOf(seeds);
		return new ClusterServers(() -> given, (node) -> ConnectionSource.server(node, config), settings, listener);
	}

	/**
	 * Borrows the connections of a cluster client of the application for each batch.
	 * Closing it leaves them open.
	 * @param provider the connections of the client
	 * @param settings how each node is used
	 * @param listener learns of the calls to all nodes, and when no node answers
	 * @return the nodes, which have to be closed
	 */
	public static ClusterServers of(ClusterConnectionProvider provider, ServerSettings settings, Listener listener) {
		return new ClusterServers(() -> provider.getNodes().keySet().stream().map(HostAndPort::from).toList(),
				(node) -> ConnectionSource.borrowed(() -> provider.getConnection(node)), settings, listener);
	}

	private void changed() {
		this.topology.refresh();
	}

	@Override
	public int slot(byte[] key) {
		return JedisClusterCRC16.getSlot(key);
	}

	@Override
	public boolean haveSlots() {
		return true;
	}

	@Override
	public void submit(Call call) {
		this.topology.submit(call);
	}

	@Override
	public void close() {
		this.topology.close();
		this.nodes.close();
	}

}
