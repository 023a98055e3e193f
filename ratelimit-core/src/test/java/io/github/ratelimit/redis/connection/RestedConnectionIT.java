package io.github.ratelimit.redis.connection;

import java.time.Duration;

import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.params.ClientKillParams;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A connection that was not used for a time, in which the server or what is in between
 * has closed it. Nobody's call is lost with it.
 */
@Timeout(120)
class RestedConnectionIT {

	private static final Duration LONG = Duration.ofSeconds(60);

	/** Longer than a connection is trusted. */
	private static final Duration REST = Duration.ofMillis(1200);

	private final Events events = new Events();

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void callSucceedsWhenIdleConnectionWasClosed(boolean borrowed) {
		int port = TestRedis.freePort();
		RedisServer redis = TestRedis.startServer(port);
		try (UnifiedJedis client = JedisClients.create("127.0.0.1", port);
				Jedis admin = new Jedis("127.0.0.1", port);
				Server server = borrowed
						? new Server(Connecting.settings("borrowed", LONG), BorrowedConnections.of(client), this.events)
						: Connecting.to(port, LONG, this.events)) {
			assertThat(Increment.of(server, "a", LONG)).isEqualTo(1);
			admin.clientKill(new ClientKillParams().type(ClientType.NORMAL).skipMe(ClientKillParams.SkipMe.YES));
			long start = System.nanoTime();
			TestCluster.await("It has rested", () -> System.nanoTime() - start > REST.toNanos());
			assertThat(Increment.of(server, "a", LONG)).isEqualTo(2);
			assertThat(this.events.all()).isEmpty();
		}
		finally {
			TestRedis.stop(redis);
		}
	}

}
