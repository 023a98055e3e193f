package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Connections that keep to the {@link Deadline} of the thread. Those of the cluster
 * clients of Jedis cannot: the client makes their sockets itself.
 */
final class BudgetedNodes implements NodeConnections {

	private final Duration budget;

	private final Set<HostAndPort> seeds;

	private final JedisClientConfig config;

	private final ConnectionPoolConfig poolConfig;

	private final Map<HostAndPort, NodePool> pools = new ConcurrentHashMap<>();

	private volatile boolean closed;

	/**
	 * Connects to nothing yet.
	 * @param seeds nodes that are known from the beginning
	 */
	BudgetedNodes(Duration budget, Set<HostAndPort> seeds, JedisClientConfig config, ConnectionPoolConfig poolConfig) {
		this.budget = budget;
		this.seeds = Set.copyOf(seeds);
		this.config = config;
		this.poolConfig = poolConfig;
	}

	@Override
	public List<HostAndPort> nodes() {
		List<HostAndPort> nodes = new ArrayList<>(this.pools.keySet());
		this.seeds.stream().filter((seed) -> !nodes.contains(seed)).forEach(nodes::add);
		return nodes;
	}

	@Override
	public Connection connect(HostAndPort node, String key) {
		while (true) {
			NodePool pool = this.pools.computeIfAbsent(node, this::newPool);
			if (this.closed) {
				// Perhaps after those that were there have been closed.
				retain(Set.of());
				throw closed();
			}
			try {
				return DeadlineExecutor.borrow(pool, this.budget);
			}
			catch (JedisException ex) {
				// The node was left out meanwhile, and whoever waited was woken up.
				if (!pool.isClosed()) {
					throw ex;
				}
			}
		}
	}

	/** How many threads wait for a connection to a node. */
	int waiting(HostAndPort node) {
		NodePool pool = this.pools.get(node);
		return (pool != null) ? pool.getNumWaiters() : 0;
	}

	private static JedisException closed() {
		return new JedisException("The client is closed");
	}

	private NodePool newPool(HostAndPort node) {
		if (this.closed) {
			throw closed();
		}
		return new NodePool(TimeBudget.connections(this.budget, () -> node, this.config).build(), this.poolConfig);
	}

	@Override
	public void failed(HostAndPort node) {
		ConnectionPool pool = this.pools.get(node);
		if (pool != null) {
			pool.clear();
		}
	}

	@Override
	public void retain(Set<HostAndPort> nodes) {
		this.pools.forEach((node, pool) -> {
			if (!nodes.contains(node) && this.pools.remove(node, pool)) {
				pool.close();
			}
		});
	}

	@Override
	public void close() {
		this.closed = true;
		retain(Set.of());
	}

}
