package io.github.ratelimit.redis.connection;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.github.ratelimit.redis.connection.WatchedSocket.Watch;
import org.apache.commons.pool2.impl.GenericObjectPool;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
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

	private static final Logger logger = LoggerFactory.getLogger(BorrowedConnections.class);

	private static final long PATIENCE = TimeUnit.SECONDS.toNanos(1);

	/** A pool may hold many connections that the server has closed. */
	private static final int ATTEMPTS = 100;

	private final Supplier<Connection> pool;

	private final Supplier<? extends Collection<?>> pools;

	/** When each was last borrowed, of those that have not rested or broken. */
	private final Map<Connection, Long> used = Collections.synchronizedMap(new WeakHashMap<>());

	private volatile long roundTrip = Long.MAX_VALUE;

	/**
	 * @param pools returns all pools with connections to the server
	 */
	public BorrowedConnections(Supplier<Connection> pool, Supplier<? extends Collection<?>> pools) {
		this.pool = pool;
		this.pools = pools;
	}

	/**
	 * Borrows from the pool of a client, and leaves the client open.
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
				? MultiDb.connections(databases) : provider::getConnection, () -> provider.getConnectionMap().values());
	}

	/** Returns those of a client of a cluster, without its executor, which resends. */
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
	Link connect(long rest, Watch watch, Duration budget) {
		boolean silent = false;
		for (int i = 1;; i++) {
			Connection connection = this.pool.get();
			Link link = new Link(connection, null, (patience) -> true, this.used::clear);
			long now = System.nanoTime();
			Long used = this.used.put(connection, now);
			try {
				if (used == null || now - used > rest) {
					long patience = silent ? 0 : patience(budget, this.roundTrip);
					link.timeout(Duration.ofNanos((patience > 0) ? patience : PATIENCE));
					link.ping();
					this.roundTrip = Math.min(this.roundTrip, link.roundTrip());
				}
				link.timeout(budget);
				return link;
			}
			catch (Throwable ex) {
				link.release();
				if (i == ATTEMPTS || silent || !(ex instanceof JedisException)) {
					throw ex;
				}
				if (isSilence(ex)) {
					// Those that rest in the pool have rested for longer.
					silent = true;
					leave();
				}
			}
		}
	}

	@Override
	void leave() {
		this.used.clear();
		try {
			for (Object pool : this.pools.get()) {
				if (pool instanceof GenericObjectPool<?> connections) {
					connections.clear();
				}
				else if (pool instanceof Connection borrowed) {
					// What a provider returns that does not show its pool.
					borrowed.close();
				}
			}
		}
		catch (JedisException ex) {
			logger.debug("The pool could not be cleared", ex);
		}
	}

	/** Separate, because it needs libraries that only users of such clients have. */
	private static final class MultiDb {

		/** A failed {@code PING} makes the client switch to the next database. */
		static Supplier<Connection> connections(MultiDbConnectionProvider databases) {
			return new MultiDbConnectionSupplier(databases)::getConnection;
		}

	}

}
