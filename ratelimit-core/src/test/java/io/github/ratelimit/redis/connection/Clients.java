package io.github.ratelimit.redis.connection;

import io.github.ratelimit.test.JedisClients;
import redis.clients.jedis.CommandObjects;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.executors.CommandExecutor;
import redis.clients.jedis.providers.ConnectionProvider;

/**
 * Clients of whichever version of Jedis the tests run with, made of parts.
 */
final class Clients {

	private Clients() {
	}

	static UnifiedJedis of(ConnectionProvider connections, CommandExecutor executor) {
		return JedisClients.areNew() ? New.of(connections, executor) : old(connections, executor);
	}

	@SuppressWarnings("deprecation")
	private static UnifiedJedis old(ConnectionProvider connections, CommandExecutor executor) {
		return new UnifiedJedis(executor, connections, new CommandObjects());
	}

	/** A client of no class of its own. */
	@SuppressWarnings("deprecation")
	static UnifiedJedis plain(ConnectionProvider connections) {
		return new UnifiedJedis(connections);
	}

	/** Loaded only where these clients are. */
	private static final class New {

		static UnifiedJedis of(ConnectionProvider connections, CommandExecutor executor) {
			return RedisClient.builder()
				.connectionProvider(connections)
				.commandExecutor(executor)
				.clientConfig(DefaultJedisClientConfig.builder().build())
				.build();
		}

	}

}
