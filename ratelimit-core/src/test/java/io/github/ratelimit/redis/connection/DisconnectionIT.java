package io.github.ratelimit.redis.connection;

import io.github.ratelimit.redis.OwnRedis;
import io.github.ratelimit.test.TestCluster;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What is left of a server that was disconnected, and used again.
 */
@Timeout(120)
class DisconnectionIT {

	private final OwnRedis redis = new OwnRedis();

	private final String name = "gone-" + this.redis.port();

	private final Events events = new Events();

	@AfterEach
	void stop() {
		this.redis.close();
	}

	private Server server(ConnectionSource source) {
		return new Server(Connecting.settings(this.name, Increment.LONG), source, this.events);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void nothingRemainsUntilTheNextCall(boolean borrowed) {
		try (Jedis admin = new Jedis("127.0.0.1", this.redis.port());
				Server server = server(
						borrowed ? BorrowedConnections.of(this.redis.jedis()) : Connecting.source(this.redis.port()))) {
			long before = admin.clientList().lines().count();
			for (int i = 1; i <= 3; i++) {
				assertThat(Increment.of(server, "a")).isEqualTo(i);
				server.disconnect();
				awaitNoThread();
				if (!borrowed) {
					TestCluster.await("The server has seen the end",
							() -> admin.clientList().lines().count() == before);
				}
			}
			assertThat(this.events.all()).isEmpty();
		}
	}

	@Test
	void serverIsProbedAgainAfterTheNextCall() {
		this.redis.stop();
		try (Server server = server(Connecting.source(this.redis.port()))) {
			assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(server, "a"));
			server.disconnect();
			awaitNoThread();
			this.redis.start();
			assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(server, "a"));
			this.events.await("closed", 1);
			assertThat(Increment.of(server, "a")).isEqualTo(1);
		}
	}

	/** A thread has said that it ends, and may have a few instructions left. */
	private void awaitNoThread() {
		TestCluster.await("No thread remains",
				() -> Thread.getAllStackTraces()
					.keySet()
					.stream()
					.noneMatch((thread) -> thread.getName().contains(this.name)));
	}

}
