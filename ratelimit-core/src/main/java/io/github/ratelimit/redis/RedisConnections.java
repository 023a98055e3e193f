package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.ratelimit.redis.cluster.ClusterServers;
import io.github.ratelimit.redis.connection.BorrowedConnections;
import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.CommandCall;
import io.github.ratelimit.redis.connection.OwnConnections;
import io.github.ratelimit.redis.connection.ConnectionSource;
import io.github.ratelimit.redis.connection.Listener;
import io.github.ratelimit.redis.connection.Server;
import io.github.ratelimit.redis.connection.ServerSettings;
import io.github.ratelimit.redis.connection.Servers;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.authentication.AuthXManager;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.providers.ClusterConnectionProvider;

/**
 * How a rate limiter reaches Redis: <pre>
 * try (RedisConnections redis = RedisConnections.server(new HostAndPort("localhost", 6379)).build()) {
 *     RateLimiter limiter = RedisRateLimiter.of(redis);
 * }
 * </pre>
 * <p>
 * A thread that needs a decision submits it and waits until the time budget ends. A few
 * threads of this class, one for each connection, send all waiting decisions together, so
 * that many callers need few connections. A decision that has not been sent when its time
 * ends is never sent; nothing is ever sent twice.
 * <p>
 * Name look-ups, connecting, encryption and login happen in the background; the first
 * decisions wait for that, so that an application need not {@link #connect} before. A
 * server that does not answer within the time budget is considered down, as is one that
 * cannot be connected to: decisions fail at once until it answers again, which is checked
 * every second. During the first second of silence they fail with a
 * {@link io.github.ratelimit.StoreBusyException}, because a busy processor may be the
 * reason. Callers that wait because this process or the queue is busy change nothing.
 * <p>
 * Threads and connections are created on demand. Several rate limiters may share one
 * instance. Safe for use by several threads.
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

	/** How long the first calls take together, which also connect and load classes. */
	private static final long FIRST = TimeUnit.SECONDS.toNanos(10);

	private final Servers servers;

	private final List<JedisClientConfig> configs;

	private final Duration timeBudget;

	/** Whether Redis has answered, or connecting has failed. */
	private volatile boolean connected;

	private long first;

	private RedisConnections(Builder builder, ServerSettings settings) {
		this.servers = builder.connector.connect(settings, builder.config,
				new ListenerAdapter(builder.name, builder.listener, this::connected));
		this.configs = Stream.concat(Stream.of(builder.config), builder.others.stream()).toList();
		this.timeBudget = builder.timeBudget;
	}

	/** Connects to one server. */
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
	 * @throws IllegalArgumentException if there is no sentinel
	 */
	public static Builder sentinel(String master, Set<HostAndPort> sentinels, JedisClientConfig config) {
		if (sentinels.isEmpty()) {
			throw new IllegalArgumentException("Invalid sentinels: there must be at least one.");
		}
		return new Builder("the master " + master, (settings, masterConfig, listener) -> new Server(settings,
				OwnConnections.toMaster(master, sentinels, config, masterConfig), listener), config);
	}

	/**
	 * Connects to the nodes of a cluster.
	 * @param nodes some nodes, at least one, which name the others
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

	/** Returns when a call ends that begins now, by {@link System#nanoTime()}. */
	long deadline() {
		long now = System.nanoTime();
		long budget = this.timeBudget.toNanos();
		return now + (this.connected ? budget : Math.max(budget, leftForFirst(now)));
	}

	private synchronized long leftForFirst(long now) {
		if (this.first == 0) {
			this.first = now + FIRST;
		}
		return this.first - now;
	}

	private void connected() {
		if (!this.connected) {
			this.connected = true;
		}
	}

	/**
	 * Connects, and waits for an answer. From then on no decision takes longer than the
	 * time budget. Without this, the first decisions wait until Redis has answered, for
	 * up to ten seconds, unless connecting fails. In a cluster the answer of one node is
	 * enough: the first decision of each further node connects to it within its budget.
	 * @return whether Redis has answered within that time
	 */
	public boolean connect(Duration longest) {
		Call ping = CommandCall.question(new CommandArguments(Command.PING), 1, System.nanoTime() + longest.toNanos());
		this.servers.submit(ping);
		try {
			ping.await();
			return true;
		}
		catch (JedisException ex) {
			return ex instanceof JedisDataException;
		}
		finally {
			connected();
		}
	}

	/**
	 * Closes all connections and ends all threads, such as before a checkpoint of the
	 * process. Waits for decisions that are under way, and for a source of credentials,
	 * for a few seconds at most, but neither for the answer of a sentinel nor for nodes
	 * that have just left a cluster. The next decision connects again.
	 */
	public void disconnect() {
		this.servers.disconnect();
	}

	/**
	 * Closes all connections. Waiting decisions fail, sources of credentials that are
	 * being asked are interrupted, and an {@code AuthXManager} of a configuration is
	 * stopped, as pools of Jedis do.
	 */
	@Override
	public void close() {
		this.servers.close();
		this.configs.stream()
			.flatMap((config) -> Stream.ofNullable(config.getAuthXManager()))
			.forEach(RedisConnections::stop);
	}

	private static void stop(AuthXManager tokens) {
		try {
			tokens.stop();
		}
		catch (RuntimeException ex) {
			// Nobody has started it.
		}
	}

	/** A builder of connections. Not safe for use by several threads. */
	public static final class Builder {

		private final String name;

		private final Connector connector;

		private final List<JedisClientConfig> others;

		private JedisClientConfig config = DefaultJedisClientConfig.builder().build();

		private Duration timeBudget = DEFAULT_TIME_BUDGET;

		private int connections = DEFAULT_CONNECTIONS;

		private int maxWaiting = DEFAULT_MAX_WAITING;

		private Duration lasting = ServerSettings.LASTING;

		private RedisListener listener = new RedisListener() {
		};

		private Builder(String name, Connector connector, JedisClientConfig... others) {
			this.name = name;
			this.connector = connector;
			this.others = List.of(others);
		}

		/**
		 * Sets login and encryption. The source of credentials or tokens is asked at each
		 * connection, and once a minute while connections are used, which log in again if
		 * the answer has changed. The socket timeout is ignored.
		 */
		public Builder config(JedisClientConfig config) {
			this.config = config;
			return this;
		}

		/**
		 * Sets how long a decision may take, from {@link #SHORTEST_TIME_BUDGET} to
		 * {@link #LONGEST_TIME_BUDGET}; default: {@link #DEFAULT_TIME_BUDGET}.
		 */
		public Builder timeBudget(Duration timeBudget) {
			this.timeBudget = timeBudget;
			return this;
		}

		/**
		 * Sets how many connections there are to each server, from 1 to
		 * {@link #MAX_CONNECTIONS}; default: {@link #DEFAULT_CONNECTIONS}.
		 */
		public Builder connections(int connections) {
			this.connections = connections;
			return this;
		}

		/**
		 * Sets how many decisions may wait for each server, at least 1; further ones fail
		 * at once. Default: {@link #DEFAULT_MAX_WAITING}.
		 */
		public Builder maxWaiting(int maxWaiting) {
			this.maxWaiting = maxWaiting;
			return this;
		}

		/** Sets a listener for events of the connections. */
		public Builder listener(RedisListener listener) {
			this.listener = listener;
			return this;
		}

		/** Sets how long Redis must be silent before it is known to be gone. */
		Builder lasting(Duration lasting) {
			this.lasting = lasting;
			return this;
		}

		/**
		 * Creates the connections, which connect in the background on first use.
		 * @throws IllegalArgumentException if a value is out of range
		 */
		public RedisConnections build() {
			return new RedisConnections(this,
					new ServerSettings(this.name, this.timeBudget, this.connections, this.maxWaiting, this.lasting));
		}

	}

	@FunctionalInterface
	private interface Connector {

		Servers connect(ServerSettings settings, JedisClientConfig config, Listener listener);

	}

}
