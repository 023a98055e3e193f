package io.github.ratelimit.redis;

import java.nio.file.Path;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisClient;
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
		try (RedisClient node = RedisClient.create("127.0.0.1", port)) {
			node.sendCommand(Protocol.Command.CLUSTER,
					Stream.concat(Stream.of("ADDSLOTS"), IntStream.range(0, SLOTS).mapToObj(Integer::toString))
						.toArray(String[]::new));
		}
		try (RedisClusterClient client = RedisClusterClient.builder()
			.nodes(Set.of(new HostAndPort("127.0.0.1", port)))
			.build()) {
			assertThatIllegalArgumentException().isThrownBy(() -> RedisRateLimiter.of(client))
				.withMessage("Invalid client (RedisClusterClient): a cluster is not supported yet.");
		}
		finally {
			TestRedis.stop(server);
		}
	}

}
