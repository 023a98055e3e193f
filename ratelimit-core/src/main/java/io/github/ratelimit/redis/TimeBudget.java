package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionFactory;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.providers.PooledConnectionProvider;
import redis.clients.jedis.util.Pool;

/**
 * A client of Redis, and the time that a decision may take with it, whatever Redis does:
 * <pre>
 * TimeBudget budget = new TimeBudget(Duration.ofMillis(100), address, config);
 * RateLimiter limiter = budget.limit(RedisRateLimiter.of(budget.client()));
 * </pre>
 * <p>
 * One deadline holds for all that a decision waits for: a free connection, a new one with
 * encryption and login, and every answer, of which there may be several. Time-outs of a
 * client hold for each step alone: for their sum to stay within the budget each would
 * have to be a small part of it, and a server that pauses for a moment would fail. An
 * executor would cost every decision a change of threads. Here the deadline is noted for
 * the thread, and the sockets of this client read no longer than until then, which costs
 * no thread and no lock.
 * <p>
 * Two things are not waited for in this way, and have no bound: looking up the name of
 * the host, and sending, which does not wait as long as a request fits into the socket's
 * buffer, as those of this library do. Calls that are not made through
 * {@link #limit(RateLimiter)} have the budget for each step.
 * <p>
 * In a cluster ({@link #ofCluster}) the same deadline holds for all nodes. When one of
 * them has used it up, up to 2 ms more are spent on answers of the others that have
 * arrived, and on taking back what they have counted.
 * <p>
 * If a connection breaks, those that are idle are closed as well: the server that they
 * lead to may be gone, and each of them would cost another decision. The same is done
 * after five time-outs in a row, but not after the first, which may be only a slow
 * command: then a herd of new connections is the last thing that the server needs. In a
 * cluster that holds for each node, and a node that has failed five times in a row is not
 * asked for a second as long as others answer: calls to it fail at once.
 * <p>
 * A thread that is interrupted while it waits for a free connection stays interrupted,
 * and so does a virtual thread whose connection is closed by that.
 * <p>
 * Needs Jedis 7.2 or newer. Jedis 8 connects when the client is created, for which a
 * server that does not answer is waited for once; it is no error.
 * <p>
 * Safe for use by several threads.
 *
 * @since 0.1
 */
public final class TimeBudget {

	/**
	 * Shortest budget.
	 */
	public static final Duration SHORTEST = Duration.ofMillis(2);

	/**
	 * Longest budget.
	 */
	public static final Duration LONGEST = Duration.ofHours(1);

	/** More at a time would only wait for each other, in a server of one thread. */
	private static final int MAX_CONNECTIONS = 32;

	private final Duration budget;

	private final UnifiedJedis client;

	/** What is done when a connection has failed. */
	private final Runnable afterFailure;

	/** In a row, of all that is limited by this budget. */
	private final AtomicInteger timeouts = new AtomicInteger();

	/**
	 * Creates a client, with at most 32 connections.
	 * @param budget how long a decision may take, from {@link #SHORTEST} to
	 * {@link #LONGEST}
	 * @param address where Redis is
	 * @param config how to log in, and to encrypt; its time-outs do not matter
	 * @throws IllegalArgumentException if the budget is out of range, or the
	 * configuration has SSL options, which are not supported: set {@code ssl} and an SSL
	 * socket factory
	 */
	public TimeBudget(Duration budget, HostAndPort address, JedisClientConfig config) {
		this(budget, address, config, pool());
	}

	/**
	 * Creates a client.
	 * @param budget how long a decision may take, from {@link #SHORTEST} to
	 * {@link #LONGEST}
	 * @param address where Redis is
	 * @param config how to log in, and to encrypt; its time-outs do not matter
	 * @param pool how many connections there are; how long it says that one is waited for
	 * does not matter
	 * @throws IllegalArgumentException if the budget is out of range, or the
	 * configuration has SSL options, which are not supported: set {@code ssl} and an SSL
	 * socket factory
	 */
	public TimeBudget(Duration budget, HostAndPort address, JedisClientConfig config, ConnectionPoolConfig pool) {
		this(budget, new PooledConnectionProvider(connections(budget, () -> address, config).build(), pool), config);
	}

	/**
	 * Creates a client of connections that are made elsewhere.
	 * @param budget how long a decision may take, from {@link #SHORTEST} to
	 * {@link #LONGEST}
	 * @param connections connections of
	 * {@link #connections(Duration, Supplier, JedisClientConfig)}, or at least with its
	 * sockets, which are closed with the client; a free one is waited for no longer than
	 * the budget, whatever their pool says
	 * @param config how they log in
	 * @throws IllegalArgumentException if the budget is out of range
	 */
	public TimeBudget(Duration budget, PooledConnectionProvider connections, JedisClientConfig config) {
		this.budget = checked(budget);
		Pool<Connection> pool = connections.getPool();
		pool.setMaxWait(budget);
		this.client = RedisClient.builder()
			.connectionProvider(connections)
			.commandExecutor(new DeadlineExecutor(connections, budget))
			.clientConfig(config)
			.build();
		this.afterFailure = pool::clear;
	}

	private TimeBudget(Duration budget, NodeConnections nodes) {
		this.budget = checked(budget);
		this.client = new ClusterClient(nodes);
		this.afterFailure = () -> {
			// The connections to the node that has failed are closed already.
		};
	}

	/**
	 * Creates a client of a cluster. It reads from the nodes which of them has what, in
	 * the background: the first time when it is used, and whenever that changes or a node
	 * fails. Nothing is sent again that may have been done.
	 * @param budget how long a decision may take, from {@link #SHORTEST} to
	 * {@link #LONGEST}
	 * @param nodes some nodes of the cluster, at least one; those that are not named are
	 * found by them
	 * @param config how to log in to every node, and to encrypt; its time-outs do not
	 * matter, and a cluster has only the database 0
	 * @param pool how many connections there are to each node; how long it says that one
	 * is waited for does not matter
	 * @return a new budget, whose client does single commands, but no pipelines and
	 * transactions
	 * @throws IllegalArgumentException if the budget is out of range, there is no node,
	 * or the configuration has SSL options or a database other than 0
	 */
	public static TimeBudget ofCluster(Duration budget, Set<HostAndPort> nodes, JedisClientConfig config,
			ConnectionPoolConfig pool) {
		if (nodes.isEmpty()) {
			throw new IllegalArgumentException("Invalid nodes: there must be at least one.");
		}
		if (config.getDatabase() != 0) {
			throw new IllegalArgumentException(
					"Invalid database (%d): a cluster has only the database 0.".formatted(config.getDatabase()));
		}
		requireNoSslOptions(config);
		return new TimeBudget(budget, new BudgetedNodes(budget, nodes, config, pool));
	}

	private static ConnectionPoolConfig pool() {
		ConnectionPoolConfig pool = new ConnectionPoolConfig();
		pool.setMaxTotal(MAX_CONNECTIONS);
		pool.setMaxIdle(MAX_CONNECTIONS);
		return pool;
	}

	private static Duration checked(Duration budget) {
		if (budget.compareTo(SHORTEST) < 0 || budget.compareTo(LONGEST) > 0) {
			throw new IllegalArgumentException("Invalid time budget (%s): must be from 2ms to 1h.".formatted(budget));
		}
		return budget;
	}

	/**
	 * Returns what makes the sockets of connections, which connect and read no longer
	 * than until the deadline of the decision that they are used for.
	 * @param budget how long each step may take if there is no decision, from
	 * {@link #SHORTEST} to {@link #LONGEST}
	 * @param address where Redis is, asked for each socket; it should wait no longer than
	 * {@link #remaining(Duration)}
	 * @param config how to encrypt
	 * @return a factory, which may be used by several threads if the address may
	 * @throws IllegalArgumentException if the budget is out of range, or the
	 * configuration has SSL options, which are not supported: set {@code ssl} and an SSL
	 * socket factory
	 */
	public static JedisSocketFactory sockets(Duration budget, Supplier<HostAndPort> address, JedisClientConfig config) {
		requireNoSslOptions(config);
		return new DeadlineSocketFactory(address, config, checked(budget));
	}

	/**
	 * Returns what makes connections with {@linkplain #sockets such sockets}, which are
	 * not used again after an answer that cannot be read. Those that Jedis makes itself
	 * are, and what is left of the answer is taken for that of the next command.
	 * @param budget how long each step may take if there is no decision, from
	 * {@link #SHORTEST} to {@link #LONGEST}
	 * @param address where Redis is, asked for each connection; it should wait no longer
	 * than {@link #remaining(Duration)}
	 * @param config how to log in, and to encrypt
	 * @return what a factory of connections is built of
	 * @throws IllegalArgumentException if the budget is out of range, or the
	 * configuration has SSL options, which are not supported: set {@code ssl} and an SSL
	 * socket factory
	 */
	public static ConnectionFactory.Builder connections(Duration budget, Supplier<HostAndPort> address,
			JedisClientConfig config) {
		JedisSocketFactory sockets = sockets(budget, address, config);
		return ConnectionFactory.builder()
			.socketFactory(sockets)
			.clientConfig(config)
			.connectionBuilder(new StrictConnection.Builder(sockets, config));
	}

	/** They would be ignored, and the password sent in plain text. */
	private static void requireNoSslOptions(JedisClientConfig config) {
		if (config.getSslOptions() != null) {
			throw new IllegalArgumentException(
					"Invalid configuration: SSL options are not supported, set ssl and an SSL socket factory.");
		}
	}

	/**
	 * Returns how long the decision that the present thread makes may still take.
	 * @param otherwise what is returned if it makes none
	 * @return a duration, zero if the time is over
	 */
	public static Duration remaining(Duration otherwise) {
		return Deadline.remaining(otherwise);
	}

	/**
	 * Returns the client.
	 * @return a client, which the caller closes in the end
	 */
	public UnifiedJedis client() {
		return this.client;
	}

	/**
	 * Makes the calls of a store end within the budget.
	 * @param store a store that uses the {@link #client()}
	 * @return a rate limiter that asks the store, and throws a {@link StoreException}
	 * when the time is over
	 */
	public RateLimiter limit(RateLimiter store) {
		return new BudgetedRateLimiter(store, this.budget, this.timeouts, this.afterFailure);
	}

}
