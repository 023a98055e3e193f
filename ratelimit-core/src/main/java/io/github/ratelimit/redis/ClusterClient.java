package io.github.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandObject;
import redis.clients.jedis.Connection;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * A client of a cluster that repeats nothing and keeps to the {@link Deadline}. It does
 * single commands; its pipelines and transactions cannot be used.
 */
final class ClusterClient extends UnifiedJedis {

	private final Cluster cluster;

	ClusterClient(NodeConnections nodes) {
		this(new Cluster(nodes));
	}

	/** The one way to get at all commands that is there in all versions of Jedis. */
	@SuppressWarnings("deprecation")
	private ClusterClient(Cluster cluster) {
		super(new ToAllNodes(cluster));
		this.cluster = cluster;
	}

	Cluster cluster() {
		return this.cluster;
	}

	/** Is none, but lets the cluster do what it is asked for. */
	private static final class ToAllNodes extends Connection {

		private final Cluster cluster;

		ToAllNodes(Cluster cluster) {
			super(() -> {
				throw new JedisConnectionException("There is a connection to each node only");
			});
			this.cluster = cluster;
		}

		@Override
		@SuppressWarnings("unchecked")
		public <T> @Nullable T executeCommand(CommandObject<T> command) {
			return (T) this.cluster.send(Call.of(key(command), command));
		}

		/** Without one any node will do. */
		private static String key(CommandObject<?> command) {
			List<Object> keys = command.getArguments().getKeys();
			Object key = keys.isEmpty() ? "" : keys.get(0);
			return (key instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : String.valueOf(key);
		}

		@Override
		public void close() {
			this.cluster.close();
		}

	}

}
