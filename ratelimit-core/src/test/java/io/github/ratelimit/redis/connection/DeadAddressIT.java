package io.github.ratelimit.redis.connection;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A host with two addresses, of which the first takes no connections.
 */
@Timeout(120)
class DeadAddressIT {

	private static final Duration LONG = Duration.ofSeconds(60);

	private final Events events = new Events();

	@Test
	void otherAddressIsTriedInTimeAndFirstFromThenOn() throws IOException {
		InetAddress dead = InetAddress.getByName("127.0.0.2");
		InetAddress alive = InetAddress.getByName("127.0.0.1");
		JedisClientConfig config = DefaultJedisClientConfig.builder().connectionTimeoutMillis(2000).build();
		List<Socket> waiting = new ArrayList<>();
		try (ServerSocket full = new ServerSocket(0, 1, dead)) {
			FullBacklog.fill(full, waiting);
			HostAndPort address = new HostAndPort("both.example.com", full.getLocalPort());
			RedisServer redis = TestRedis.startServer(address.getPort());
			ConnectionSource source = new OwnConnections((patience) -> address, () -> {
			}, config, (host) -> new InetAddress[] { dead, alive });
			try (Server server = new Server(new ServerSettings("test", LONG), source, this.events, Redirections.NONE)) {
				assertThat(Increment.of(server, "a", LONG)).isEqualTo(1);
				assertThat(this.events.all()).isEmpty();
				long start = System.nanoTime();
				source.connect(true).release();
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMillis(900));
			}
			finally {
				TestRedis.stop(redis);
			}
		}
		finally {
			for (Socket socket : waiting) {
				socket.close();
			}
		}
	}

}
