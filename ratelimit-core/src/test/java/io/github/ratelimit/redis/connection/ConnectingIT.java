package io.github.ratelimit.redis.connection;

import java.net.URI;
import java.time.Duration;

import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Servers that are not there, and connections that break.
 */
@Timeout(120)
class ConnectingIT {

	private static final Duration BUDGET = Duration.ofMillis(300);

	private static final Duration LONG = Duration.ofSeconds(60);

	private final Events events = new Events();

	@Test
	void callsFailAtOnceUntilTheServerStarts() {
		int port = TestRedis.freePort();
		try (Server server = Connecting.to(port, BUDGET, this.events)) {
			for (int i = 0; i < 3; i++) {
				Connecting.assertNotSent(() -> Increment.of(server, "a", LONG))
					.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(Reason.OUTAGE))
					.withCauseInstanceOf(JedisConnectionException.class);
			}
			RedisServer redis = TestRedis.startServer(port);
			try {
				this.events.await("closed", 1);
				assertThat(Increment.of(server, "a", LONG)).isEqualTo(1);
			}
			finally {
				TestRedis.stop(redis);
			}
			this.events.await("opened", 1);
			assertThat(this.events.all()).startsWith("opened", "closed");
		}
	}

	@Test
	void callsSucceedAfterTheServerHasRestarted() {
		int port = TestRedis.freePort();
		RedisServer redis = TestRedis.startServer(port);
		try (Server server = Connecting.to(port, BUDGET, this.events)) {
			Increment.of(server, "a", LONG);
			TestRedis.stop(redis);
			assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(server, "a", LONG));
			this.events.await("opened", 1);
			redis = TestRedis.startServer(port);
			this.events.await("closed", 1);
			assertThat(Increment.of(server, "a", LONG)).isEqualTo(1);
			assertThat(this.events.all()).containsExactly("opened", "closed");
		}
		finally {
			TestRedis.stop(redis);
		}
	}

	@Test
	void oneBrokenConnectionIsNoOutage() {
		try (FaultyProxy proxy = new FaultyProxy(TestRedis.uri());
				Server server = Connecting.to(proxy.uri().getPort(), new ServerSettings("one", BUDGET, 1, 100),
						this.events)) {
			String key = TestRedis.newKeyPrefix();
			for (int i = 1; i < 10; i += 2) {
				assertThat(Increment.of(server, key, LONG)).isEqualTo(i);
				proxy.lose(1);
				assertThatExceptionOfType(JedisConnectionException.class)
					.isThrownBy(() -> Increment.of(server, key, LONG));
				assertThat(proxy.toLose()).isZero();
			}
			assertThat(this.events.all()).isEmpty();
		}
	}

	@Test
	void failedLoginIsTheCause() {
		int port = TestRedis.freePort();
		RedisServer redis = TestRedis.startServer(port, "requirepass secret");
		JedisClientConfig wrong = DefaultJedisClientConfig.builder().password("wrong").build();
		try (Server server = new Server(Connecting.settings("test", BUDGET),
				OwnConnections.to(new HostAndPort("127.0.0.1", port), wrong), this.events)) {
			Connecting.assertNotSent(() -> Increment.of(server, "a", LONG))
				.withCauseInstanceOf(JedisAccessControlException.class);
		}
		finally {
			TestRedis.stop(redis);
		}
	}

	@Test
	void callsFailWhenThePasswordIsUnavailable() {
		JedisClientConfig config = DefaultJedisClientConfig.builder().credentialsProvider(() -> {
			throw new IllegalStateException("No vault");
		}).build();
		try (Server server = new Server(Connecting.settings("test", BUDGET),
				OwnConnections.to(new HostAndPort("127.0.0.1", TestRedis.uri().getPort()), config), this.events)) {
			Connecting.assertNotSent(() -> Increment.of(server, "a", LONG))
				.withRootCauseInstanceOf(IllegalStateException.class);
		}
	}

	@Test
	void connectionSelectsDatabaseAndName() {
		int port = TestRedis.freePort();
		RedisServer redis = TestRedis.startServer(port, "requirepass secret");
		JedisClientConfig config = DefaultJedisClientConfig.builder()
			.password("secret")
			.database(3)
			.clientName("limiter")
			.build();
		try (Server server = new Server(Connecting.settings("test", BUDGET),
				OwnConnections.to(new HostAndPort("127.0.0.1", port), config), this.events)) {
			Increment.of(server, "a", LONG);
			try (var jedis = new Jedis(URI.create("redis://:secret@127.0.0.1:" + port + "/3"))) {
				assertThat(jedis.get("a")).isEqualTo("1");
				assertThat(jedis.clientList()).contains("name=limiter");
			}
		}
		finally {
			TestRedis.stop(redis);
		}
	}

}
