package io.github.ratelimit.redis;

import java.util.List;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.JedisCluster;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Where the Redis keys of a store are: on one server, or on the nodes of a cluster.
 */
interface Servers {

	/** Where the Redis keys are that a client reaches. */
	@SuppressWarnings("deprecation")
	static Servers of(UnifiedJedis jedis) {
		if (jedis instanceof ClusterClient client) {
			return client.cluster();
		}
		// By name, because none of these clients exists in every version of Jedis.
		for (Class<?> type = jedis.getClass(); type != null; type = type.getSuperclass()) {
			switch (type.getName()) {
				case "redis.clients.jedis.RedisClusterClient":
					return new Cluster(new ClientNodes(jedis, ((RedisClusterClient) jedis)::getClusterNodes));
				case "redis.clients.jedis.JedisCluster":
					return new Cluster(new ClientNodes(jedis, ((JedisCluster) jedis)::getClusterNodes));
				case "redis.clients.jedis.MultiDbClient":
					return SingleServer.ofSeveral(jedis);
				default:
			}
		}
		return SingleServer.of(jedis);
	}

	/**
	 * Returns the slot of a Redis key. What lies on one slot can be done by one call of a
	 * script.
	 */
	int slot(String key);

	/** Sends calls, all at once. Each knows afterwards what became of it. */
	void send(List<Call> calls);

	/**
	 * Sends a call.
	 * @return the answer
	 * @throws JedisException if it failed
	 */
	default @Nullable Object send(Call call) {
		send(List.of(call));
		return call.reply();
	}

}
