package io.github.ratelimit.redis.connection;

import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Set;
import java.util.function.Supplier;

import io.github.ratelimit.redis.connection.WatchedSocket.Watch;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.providers.ClusterConnectionProvider;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Where the connections of a {@link Server} come from.
 */
public abstract class ConnectionSource {

	ConnectionSource() {
	}

	/**
	 * Connects to one server.
	 * @param config how to log in, and to encrypt; the connection time-out is for each
	 * address of the host, and for the login; the socket time-out is for each step of
	 * encryption only
	 */
	public static ConnectionSource server(HostAndPort address, JedisClientConfig config) {
		requireNoTokens(config);
		return new OwnConnections(() -> address, () -> {
		}, config);
	}

	/**
	 * Connects to the server that sentinels call the master at the time. They are asked
	 * when something is to be sent.
	 */
	public static ConnectionSource sentinel(String master, Set<HostAndPort> sentinels, JedisClientConfig sentinelConfig,
			JedisClientConfig config) {
		requireNoTokens(config);
		SentinelMaster asked = new SentinelMaster(master, sentinels, sentinelConfig);
		return new OwnConnections(asked::get, asked::close, config);
	}

	private static void requireNoTokens(JedisClientConfig config) {
		if (config.getAuthXManager() != null) {
			throw new IllegalArgumentException(
					"Invalid configuration: tokens are not supported, hand over a client of your own.");
		}
	}

	/**
	 * Borrows connections of a client for each batch. Closing the source leaves it open.
	 * @throws IllegalArgumentException if the client sends again by itself, has no pool
	 * of connections, or is one of a cluster
	 */
	public static ConnectionSource client(UnifiedJedis client) {
		return BorrowedConnections.of(client);
	}

	/** Returns the connections of a client of a cluster; {@code null} if it is none. */
	public static @Nullable ClusterConnectionProvider clusterOf(UnifiedJedis client) {
		return BorrowedConnections.clusterProvider(client);
	}

	/** Borrows connections for each batch, and gives them back by closing them. */
	public static ConnectionSource borrowed(Supplier<Connection> pool) {
		return new BorrowedConnections(pool);
	}

	/**
	 * Connects.
	 * @param checked whether the server must have answered a {@code PING}
	 * @param watch is told of silence, also during the login, and of what is received;
	 * not by connections that are borrowed
	 * @param budget how long a silence is told of; how long borrowed ones wait
	 * @throws JedisException if it cannot be done, or the server does not answer; other
	 * exceptions if a pool or what knows a password fails
	 */
	abstract Link connect(boolean checked, Watch watch, Duration budget);

	/** Returns whether a connection has failed because nothing came in time. */
	static boolean isSilence(@Nullable Throwable failure) {
		return failure instanceof JedisConnectionException && failure.getCause() instanceof SocketTimeoutException;
	}

	/** Frees what the source itself has. */
	void close() {
	}

}
