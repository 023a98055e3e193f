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
 * A thread that asks for a decision hands it over and waits until the time budget ends. A
 * few threads of this class, one for each connection, send together what waits. So many
 * callers need few connections, and no caller ever waits for a socket. What has not been
 * sent when its time is over is never sent; nothing is ever sent twice.
 * <p>
 * Name look-ups, connecting, encryption and login happen in the background. A server that
 * was sent something and is silent for the time budget counts as gone, as does one that
 * cannot be connected to: decisions fail at once until it answers, which is looked for
 * every second. Callers that wait because this process or the queue is busy are no sign
 * of that.
 * <p>
 * Threads and connections are made when they are needed. Several rate limiters may share
 * one instance. Safe for use by several threads.
 *
 * @since 0.1
 */
public final class RedisConnections implements AutoCloseable {

	/** Shortest time budget. */
	public static final Duration SHORTEST_TIME_BUDGET = ServerSettings.SHORTEST;

	/** Longest time budget. */
	public static final Duration LONGEST_TIME_BUDGET = ServerSettings.LONGEST;

	/** Time budget unless another is set. */
	public static final Duration DEFAULT_TIME_BUDGET = Duration.ofMillis(100);

	/** Largest number of connections to one server. */
	public static final int MAX_CONNECTIONS = ServerSettings.MAX_CONNECTIONS;

	/** Number of connections to one server unless another is set. */
	public static final int DEFAULT_CONNECTIONS = 2;

	/** Number of decisions that may wait for a server, unless another is set. */
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
	 * Connects to the server that sentinels call the master at the time. A connection to
	 * a former master is not used again.
	 * @param master the name that the sentinels know it by
	 * @param sentinels some sentinels, at least one; they may start later than this
	 * @param config how to log in to the sentinels, and to encrypt
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
	 * @param nodes some nodes, at least one; the others are found by them
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
	 * Borrows connections of a client of the application for each batch. The client
	 * remains the caller's to close; how it logs in and encrypts is its own business.
	 * @param client a client of Jedis for one server, a sentinel's master, several
	 * servers or a cluster
	 * @return a builder
	 * @throws IllegalArgumentException if the client sends again by itself what has
	 * failed, or has no pool of connections
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

	/** Closes all connections. Decisions that wait fail. */
	@Override
	public void close() {
		this.servers.close();
	}

	/** Collects how to connect. Not safe for use by several threads. */
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
		 * Sets how to log in, and to encrypt. Its socket time-out does not matter.
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
		 * {@link #LONGEST_TIME_BUDGET}; {@link #DEFAULT_TIME_BUDGET} unless set
		 * @return this
		 */
		public Builder timeBudget(Duration timeBudget) {
			this.timeBudget = timeBudget;
			return this;
		}

		/**
		 * Sets how many connections there are to each server.
		 * @param connections from 1 to {@link #MAX_CONNECTIONS};
		 * {@link #DEFAULT_CONNECTIONS} unless set
		 * @return this
		 */
		public Builder connections(int connections) {
			this.connections = connections;
			return this;
		}

		/**
		 * Sets how many decisions may wait for each server; what is beyond that is not
		 * accepted.
		 * @param maxWaiting at least 1; {@link #DEFAULT_MAX_WAITING} unless set
		 * @return this
		 */
		public Builder maxWaiting(int maxWaiting) {
			this.maxWaiting = maxWaiting;
			return this;
		}

		/**
		 * Sets who learns what is seen of Redis.
		 * @param listener the listener
		 * @return this
		 */
		public Builder listener(RedisListener listener) {
			this.listener = listener;
			return this;
		}

		/**
		 * Begins to connect in the background when something is to be sent, and waits for
		 * nothing.
		 * @return connections, which the caller closes in the end
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
