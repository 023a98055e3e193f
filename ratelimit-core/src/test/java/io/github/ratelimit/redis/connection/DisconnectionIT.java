package io.github.ratelimit.redis.connection;

import java.time.Duration;

import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What is left of a server that was disconnected, and used again.
 */
@Timeout(120)
class DisconnectionIT {

	private static final Duration LONG = Duration.ofSeconds(60);

	private final int port = TestRedis.freePort();

	private final Events events = new Events();

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void nothingRemainsUntilTheNextCall(boolean borrowed) {
		RedisServer redis = TestRedis.startServer(this.port);
		// A client of Jedis 8 connects before it is used.
		try (UnifiedJedis client = borrowed ? JedisClients.create("127.0.0.1", this.port) : null;
				Jedis admin = new Jedis("127.0.0.1", this.port);
				Server server = new Server(Connecting.settings("gone-" + this.port, LONG),
						borrowed ? BorrowedConnections.of(client) : Connecting.source("127.0.0.1", this.port),
						this.events)) {
			for (int i = 1; i <= 3; i++) {
				assertThat(Increment.of(server, "a", LONG)).isEqualTo(i);
				server.disconnect();
				awaitNoThread();
				if (!borrowed) {
					TestCluster.await("The server has seen the end", () -> admin.clientList().lines().count() == 1);
				}
			}
			assertThat(this.events.all()).isEmpty();
		}
		finally {
			TestRedis.stop(redis);
		}
	}

	@Test
	void serverIsProbedAgainAfterTheNextCall() {
		try (Server server = new Server(Connecting.settings("gone-" + this.port, LONG),
				Connecting.source("127.0.0.1", this.port), this.events)) {
			assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(server, "a", LONG));
			server.disconnect();
			awaitNoThread();
			RedisServer redis = TestRedis.startServer(this.port);
			try {
				assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(server, "a", LONG));
				this.events.await("closed", 1);
				assertThat(Increment.of(server, "a", LONG)).isEqualTo(1);
			}
			finally {
				TestRedis.stop(redis);
			}
		}
	}

	/** A thread has said that it ends, and may have a few instructions left. */
	private void awaitNoThread() {
		TestCluster.await("No thread remains", () -> threads() == 0);
	}

	private long threads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().contains("gone-" + this.port))
			.count();
	}

}
