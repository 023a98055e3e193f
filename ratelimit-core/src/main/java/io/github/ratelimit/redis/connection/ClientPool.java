package io.github.ratelimit.redis.connection;

import java.lang.reflect.Field;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.executors.RetryableCommandExecutor;
import redis.clients.jedis.mcf.MultiDbConnectionProvider;
import redis.clients.jedis.mcf.MultiDbConnectionSupplier;
import redis.clients.jedis.providers.ClusterConnectionProvider;
import redis.clients.jedis.providers.ConnectionProvider;
import redis.clients.jedis.providers.ManagedConnectionProvider;

/**
 * Finds where a client of Jedis has its connections. Jedis tells it to subclasses only.
 */
final class ClientPool {

	private static final String MULTI_DB = "redis.clients.jedis.mcf.MultiDbConnectionProvider";

	private ClientPool() {
	}

	static Supplier<Connection> of(UnifiedJedis client) {
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
		return provider.getClass().getName().equals(MULTI_DB) ? MultiDb.connections(provider) : provider::getConnection;
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

	/** Needs libraries that only users of such clients have. */
	private static final class MultiDb {

		/** By a {@code PING}, it goes on to the next database if one is gone. */
		static Supplier<Connection> connections(ConnectionProvider provider) {
			return new MultiDbConnectionSupplier((MultiDbConnectionProvider) provider)::getConnection;
		}

	}

}
