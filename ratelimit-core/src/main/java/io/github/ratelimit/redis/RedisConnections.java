package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.Set;

import io.github.ratelimit.redis.cluster.ClusterServers;
import io.github.ratelimit.redis.connection.BorrowedConnections;
import io.github.ratelimit.redis.connection.OwnConnections;
import io.github.ratelimit.redis.connection.ConnectionSource;
import io.github.ratelimit.redis.connection.Listener;
import io.github.ratelimit.redis.connection.Server;
import io.github.ratelimit.redis.connection.ServerSettings;
import io.github.ratelimit.redis.connection.Servers;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.providers.ClusterConnectionProvider;

/**
 * How a rate limiter reaches Redis: <pre>
 * try (RedisConnections redis = RedisConnections.server(new HostAndPort("localhost", 6379)).build()) {
 *     RateLimiter limiter = RedisRateLimiter.of(redis);
 * }
 * </pre>
 * <p>
 * A thread that needs a decision submits it and waits until the time budget ends. A few
 * threads of this class, one for each connection, send all waiting decisions together. So
 * many callers need few connections, and no caller ever waits for a socket. A decision
 * that has not been sent when its time ends is never sent; nothing is ever sent twice.
 * <p>
 * Name look-ups, connecting, encryption and login happen in the background. A server that
 * does not answer within the time budget is considered down, as is one that cannot be
 * connected to: decisions fail at once until it answers again, which is checked every
 * second. Callers that wait because this process or the queue is busy have no effect on
 * this.
 * <p>
 * Threads and connections are created on demand. Several rate limiters may share one
 * instance. Safe for use by several threads.
 *
 * @since 0.1
 */
public final class RedisConnections implements AutoCloseable {

	/** Shortest time budget. */
	public static final Duration SHORTEST_TIME_BUDGET = ServerSettings.SHORTEST;

	/** Longest time budget. */
	public static final Duration LONGEST_TIME_BUDGET = ServerSettings.LONGEST;

	/** Default time budget. */
	public static final Duration DEFAULT_TIME_BUDGET = Duration.ofMillis(100);

	/** Largest number of connections to one server. */
	public static final int MAX_CONNECTIONS = ServerSettings.MAX_CONNECTIONS;

	/** Default number of connections to one server. */
	public static final int DEFAULT_CONNECTIONS = 2;

	/** Default number of decisions that may wait for a server. */
	public static final int DEFAULT_MAX_WAITING = 8192;

	private final Servers servers;

	private final Duration timeBudget;

	private RedisConnections(Servers servers, Duration timeBudget) {
		this.servers = servers;
		this.timeBudget = timeBudget;
	}

	/**
	 * Connects to one server.
	 * @param address where it is
	 * @return a builder
	 */
	public static Builder server(HostAndPort address) {
		return new Builder(address.toString(),
				(settings, config, listener) -> new Server(settings, OwnConnections.to(address, config), listener));
	}

	/**
	 * Connects to the server that sentinels name as the current master. A connection to a
	 * former master is not used again.
	 * @param master the name of the master at the sentinels
	 * @param sentinels some sentinels, at least one; they may be started later
	 * @param config the login and encryption for the sentinels
	 * @return a builder
	 * @throws IllegalArgumentException if there is no sentinel
	 */
	public static Builder sentinel(String master, Set<HostAndPort> sentinels, JedisClientConfig config) {
		if (sentinels.isEmpty()) {
			throw new IllegalArgumentException("Invalid sentinels: there must be at least one.");
		}
		return new Builder("the master " + master, (settings, masterConfig, listener) -> new Server(settings,
				OwnConnections.toMaster(master, sentinels, config, masterConfig), listener));
	}

	/**
	 * Connects to the nodes of a cluster.
	 * @param nodes some nodes, at least one, which name the others
	 * @return a builder
	 * @throws IllegalArgumentException if there is no node
	 */
	public static Builder cluster(Set<HostAndPort> nodes) {
		if (nodes.isEmpty()) {
			throw new IllegalArgumentException("Invalid nodes: there must be at least one.");
		}
		return new Builder("the cluster",
				(settings, config, listener) -> ClusterServers.of(nodes, config, settings, listener));
	}

	/**
	 * Borrows a connection of a client of the application for each batch. The client is
	 * not closed; its login and encryption are used.
	 * @param client a client of Jedis for one server, a sentinel's master, several
	 * servers or a cluster
	 * @return a builder
	 * @throws IllegalArgumentException if the client retries failed commands, or has no
	 * connection pool
	 */
	public static Builder client(UnifiedJedis client) {
		ClusterConnectionProvider cluster = BorrowedConnections.clusterOf(client);
		if (cluster != null) {
			return new Builder("the cluster of the client",
					(settings, config, listener) -> ClusterServers.of(cluster, settings, listener));
		}
		ConnectionSource source = BorrowedConnections.of(client);
		return new Builder("the server of the client",
				(settings, config, listener) -> new Server(settings, source, listener));
	}

	Servers servers() {
		return this.servers;
	}

	Duration timeBudget() {
		return this.timeBudget;
	}

	/** Closes all connections. Waiting decisions fail. */
	@Override
	public void close() {
		this.servers.close();
	}

	/** A builder of connections. Not safe for use by several threads. */
	public static final class Builder {

		private final String name;

		private final Connector connector;

		private JedisClientConfig config = DefaultJedisClientConfig.builder().build();

		private Duration timeBudget = DEFAULT_TIME_BUDGET;

		private int connections = DEFAULT_CONNECTIONS;

		private int maxWaiting = DEFAULT_MAX_WAITING;

		private RedisListener listener = new RedisListener() {
		};

		private Builder(String name, Connector connector) {
			this.name = name;
			this.connector = connector;
		}

		/**
		 * Sets login and encryption. The socket timeout is ignored.
		 * @param config the configuration of Jedis
		 * @return this
		 */
		public Builder config(JedisClientConfig config) {
			this.config = config;
			return this;
		}

		/**
		 * Sets how long a decision may take.
		 * @param timeBudget from {@link #SHORTEST_TIME_BUDGET} to
		 * {@link #LONGEST_TIME_BUDGET}; default: {@link #DEFAULT_TIME_BUDGET}
		 * @return this
		 */
		public Builder timeBudget(Duration timeBudget) {
			this.timeBudget = timeBudget;
			return this;
		}

		/**
		 * Sets how many connections there are to each server.
		 * @param connections from 1 to {@link #MAX_CONNECTIONS}; default:
		 * {@link #DEFAULT_CONNECTIONS}
		 * @return this
		 */
		public Builder connections(int connections) {
			this.connections = connections;
			return this;
		}

		/**
		 * Sets how many decisions may wait for each server; further ones fail at once.
		 * @param maxWaiting at least 1; default: {@link #DEFAULT_MAX_WAITING}
		 * @return this
		 */
		public Builder maxWaiting(int maxWaiting) {
			this.maxWaiting = maxWaiting;
			return this;
		}

		/**
		 * Sets a listener for events of the connections.
		 * @param listener the listener
		 * @return this
		 */
		public Builder listener(RedisListener listener) {
			this.listener = listener;
			return this;
		}

		/**
		 * Creates the connections, which connect in the background on first use.
		 * @return connections, to be closed by the caller
		 * @throws IllegalArgumentException if a value is out of range
		 */
		public RedisConnections build() {
			ServerSettings settings = new ServerSettings(this.name, this.timeBudget, this.connections, this.maxWaiting);
			return new RedisConnections(
					this.connector.connect(settings, this.config, new ListenerAdapter(this.name, this.listener)),
					this.timeBudget);
		}

	}

	@FunctionalInterface
	private interface Connector {

		Servers connect(ServerSettings settings, JedisClientConfig config, Listener listener);

	}

}
