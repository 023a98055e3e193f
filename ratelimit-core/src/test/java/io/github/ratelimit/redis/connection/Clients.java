package io.github.ratelimit.redis.connection;

import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.MultiDbClient;
import redis.clients.jedis.MultiDbConfig;
import redis.clients.jedis.MultiDbConfig.CircuitBreakerConfig;
import redis.clients.jedis.MultiDbConfig.DatabaseConfig;
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

	static UnifiedJedis ofSeveral(int firstPort, int secondPort) {
		return MultiDbClient.builder()
			.multiDbConfig(MultiDbConfig.builder()
				.database(database(firstPort, 1))
				.database(database(secondPort, 0.5f))
				.failureDetector(CircuitBreakerConfig.builder().minNumOfFailures(2).slidingWindowSize(60).build())
				.build())
			.build();
	}

	private static DatabaseConfig database(int port, float weight) {
		return DatabaseConfig.builder(new HostAndPort("127.0.0.1", port), DefaultJedisClientConfig.builder().build())
			.weight(weight)
			.healthCheckEnabled(false)
			.build();
	}

}
