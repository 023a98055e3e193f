package io.github.ratelimit.redis;

import java.nio.file.Path;
import java.util.Set;
import java.util.stream.IntStream;

import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisClusterClient;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ClusterClientIT {

	private static final int SLOTS = 16_384;

	@Test
	void clientOfAClusterIsRefused(@TempDir Path folder) {
		int port = TestRedis.freePort();
		RedisServer server = TestRedis.startServer(port, "cluster-enabled yes",
				"cluster-config-file " + folder.resolve("nodes.conf"));
		try (Jedis node = new Jedis("127.0.0.1", port)) {
			node.clusterAddSlots(IntStream.range(0, SLOTS).toArray());
		}
		try (RedisClusterClient client = RedisClusterClient.builder()
			.nodes(Set.of(new HostAndPort("127.0.0.1", port)))
			.build()) {
			assertThatIllegalArgumentException().isThrownBy(() -> RedisRateLimiter.of(client))
				.withMessage("Invalid client (RedisClusterClient): a cluster is not supported yet.");
			assertThatIllegalArgumentException().isThrownBy(() -> PipelineRateLimiter.of(client))
				.withMessage("Invalid client (RedisClusterClient): a cluster is not supported yet.");
		}
		finally {
			TestRedis.stop(server);
		}
	}

}
