package io.github.ratelimit.redis.connection;

import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.executors.CommandExecutor;
import redis.clients.jedis.providers.ConnectionProvider;

/**
 * Clients that are not in every version of Jedis, and are not loaded where they are not.
 */
final class Clients {

	private Clients() {
	}

	static UnifiedJedis of(ConnectionProvider connections, CommandExecutor executor) {
		return RedisClient.builder()
			.connectionProvider(connections)
			.commandExecutor(executor)
			.clientConfig(DefaultJedisClientConfig.builder().build())
			.build();
	}

	/** A client of no class of its own. */
	@SuppressWarnings("deprecation")
	static UnifiedJedis plain(ConnectionProvider connections) {
		return new UnifiedJedis(connections);
	}

}
