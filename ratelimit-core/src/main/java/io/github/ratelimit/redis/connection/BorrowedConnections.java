package io.github.ratelimit.redis.connection;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Supplier;

import io.github.ratelimit.redis.connection.WatchedSocket.Watch;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.executors.RetryableCommandExecutor;
import redis.clients.jedis.mcf.MultiDbConnectionProvider;
import redis.clients.jedis.mcf.MultiDbConnectionSupplier;
import redis.clients.jedis.providers.ClusterConnectionProvider;
import redis.clients.jedis.providers.ConnectionProvider;
import redis.clients.jedis.providers.ManagedConnectionProvider;

/**
 * Connections of a client of the application, which are given back after each batch.
 * Jedis shows the pool of a client only to subclasses, hence the reflection.
 */
public final class BorrowedConnections extends ConnectionSource {

	/** Timeout of {@code PING}. */
	private static final Duration PATIENCE = Duration.ofSeconds(1);

	/** A pool may hold many connections that the server has closed. */
	private static final int ATTEMPTS = 100;

	private final Supplier<Connection> pool;

	/**
	 * Those that have answered since one broke; {@code null} if none has. All others may
	 * be broken as well.
	 */
	private volatile @Nullable Set<Connection> answered;

	/** Creates a source that borrows from a pool. */
	public BorrowedConnections(Supplier<Connection> pool) {
		this.pool = pool;
	}

	/**
	 * Creates a source that borrows from the pool of a client. Closing the source leaves
	 * the client open.
	 * @throws IllegalArgumentException if the client sends again by itself, has no pool
	 * of connections, or is one of a cluster
	 */
	public static BorrowedConnections of(UnifiedJedis client) {
		if (field(client, "executor") instanceof RetryableCommandExecutor) {
			throw refused(client, "must not send commands again by itself, as its command executor does");
		}
		ConnectionProvider provider = (ConnectionProvider) field(client, "provider");
		if (provider == null || provider instanceof ManagedConnectionProvider) {
			throw refused(client, "must have a pool of connections");
		}
		if (provider instanceof ClusterConnectionProvider) {
			throw refused(client, "must be a RedisClusterClient or JedisCluster to use a cluster");
		}
		return new BorrowedConnections((provider instanceof MultiDbConnectionProvider databases)
				? MultiDb.connections(databases) : provider::getConnection);
	}

	/**
	 * Returns the connections of a client of a cluster; {@code null} if it is none. Its
	 * command executor, which sends again, is not used.
	 */
	public static @Nullable ClusterConnectionProvider clusterOf(UnifiedJedis client) {
		return (client.getClass() != UnifiedJedis.class
				&& field(client, "provider") instanceof ClusterConnectionProvider provider) ? provider : null;
	}

	private static IllegalArgumentException refused(UnifiedJedis client, String rule) {
		return new IllegalArgumentException("Invalid client (%s): %s.".formatted(client.getClass().getName(), rule));
	}

	private static @Nullable Object field(UnifiedJedis client, String name) {
		try {
			Field field = UnifiedJedis.class.getDeclaredField(name);
			field.setAccessible(true);
			return field.get(client);
		}
		catch (ReflectiveOperationException | RuntimeException ex) {
			throw new IllegalArgumentException("Invalid client (%s): its %s cannot be read with this version of Jedis."
				.formatted(client.getClass().getName(), name), ex);
		}
	}

	@Override
	Link connect(boolean checked, Watch watch, Duration budget) {
		for (int i = 1;; i++) {
			Connection connection = this.pool.get();
			Link link = new Link(connection, null, () -> true, this::broken);
			Set<Connection> answered = this.answered;
			try {
				if (checked || answered != null && !answered.contains(connection)) {
					link.timeout(PATIENCE);
					link.ping();
					if (answered != null) {
						answered.add(connection);
					}
				}
				link.timeout(budget);
				return link;
			}
			catch (Throwable ex) {
				link.release();
				if (i == ATTEMPTS || isSilence(ex) || !(ex instanceof JedisException)) {
					throw ex;
				}
			}
		}
	}

	private void broken() {
		this.answered = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
	}

	/** Separate, because it needs libraries that only users of such clients have. */
	private static final class MultiDb {

		/** A failed {@code PING} makes the client switch to the next database. */
		static Supplier<Connection> connections(MultiDbConnectionProvider databases) {
			return new MultiDbConnectionSupplier(databases)::getConnection;
		}

	}

}
