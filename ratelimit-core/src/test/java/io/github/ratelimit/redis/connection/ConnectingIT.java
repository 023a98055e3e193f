package io.github.ratelimit.redis.connection;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.github.ratelimit.redis.AnsweringServer;
import io.github.ratelimit.redis.OwnRedis;
import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
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
 * Servers that are not there, or no Redis, sentinels that do not answer, and connections
 * that break.
 */
@Timeout(120)
class ConnectingIT {

	private static final Duration BUDGET = Duration.ofMillis(300);

	private final Events events = new Events();

	@Test
	void callsFailAtOnceUntilTheServerStarts() {
		int port = TestRedis.freePort();
		try (Server server = Connecting.to(port, BUDGET, this.events)) {
			for (int i = 0; i < 3; i++) {
				Connecting.assertFails(Reason.OUTAGE, () -> Increment.of(server, "a"))
					.withCauseInstanceOf(JedisConnectionException.class);
			}
			RedisServer redis = TestRedis.startServer(port);
			try {
				this.events.await("closed", 1);
				assertThat(Increment.of(server, "a")).isEqualTo(1);
			}
			finally {
				TestRedis.stop(redis);
			}
			this.events.await("opened", 1);
			assertThat(this.events.all()).startsWith("opened", "closed");
		}
	}

	@Test
	void oneBrokenConnectionIsNoOutage() {
		try (FaultyProxy proxy = new FaultyProxy(TestRedis.uri());
				Server server = Connecting.to(proxy.uri().getPort(), new ServerSettings("one", BUDGET, 1, 100),
						this.events)) {
			String key = TestRedis.newKeyPrefix();
			for (int i = 1; i < 10; i += 2) {
				assertThat(Increment.of(server, key)).isEqualTo(i);
				proxy.lose(1);
				assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(() -> Increment.of(server, key));
				assertThat(proxy.toLose()).isZero();
			}
			assertThat(this.events.all()).isEmpty();
		}
	}

	@Test
	void connectionLogsInAndSelectsDatabaseAndName() {
		JedisClientConfig wrong = DefaultJedisClientConfig.builder().password("wrong").build();
		JedisClientConfig right = DefaultJedisClientConfig.builder()
			.password("secret")
			.database(3)
			.clientName("limiter")
			.build();
		try (OwnRedis redis = new OwnRedis();
				Server refused = server(redis, wrong);
				Server server = server(redis, right)) {
			redis.jedis().configSet("requirepass", "secret");
			Connecting.assertFails(Reason.OUTAGE, () -> Increment.of(refused, "a"))
				.withCauseInstanceOf(JedisAccessControlException.class);
			Increment.of(server, "a");
			try (Jedis jedis = new Jedis(URI.create("redis://:secret@127.0.0.1:" + redis.port() + "/3"))) {
				assertThat(jedis.get("a")).isEqualTo("1");
				assertThat(jedis.clientList()).contains("name=limiter");
			}
		}
	}

	private Server server(OwnRedis redis, JedisClientConfig config) {
		return new Server(Connecting.settings("test", BUDGET),
				OwnConnections.to(new HostAndPort("127.0.0.1", redis.port()), config), this.events);
	}

	/** What makes Jedis fail in the ways of Java, errors of the machine included. */
	static Stream<String> unreadable() {
		return Stream.of("$-2\r\n", "*-2\r\n", "*1\r\n$-2\r\n", "-MOVED 1 127.0.0.1:x\r\n", "-MOVED 1\r\n",
				"-ASK 1 a\r\n", "$2147483647\r\n", "*2147483647\r\n", "*1\r\n$2147483647\r\n",
				"*1\r\n".repeat(200_000));
	}

	/** What follows would answer the next call. */
	@ParameterizedTest
	@MethodSource("unreadable")
	void connectionIsClosedAfterAnUnreadableReply(String reply) {
		try (AnsweringServer redis = new AnsweringServer("INCR", reply + ":7\r\n", Connecting.NOTHING);
				Server server = Connecting.to(redis.uri().getPort(), Increment.LONG, this.events)) {
			for (int i = 0; i < 3; i++) {
				assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(server, "a"))
					.isInstanceOfAny(WrongReplyException.class, JedisConnectionException.class);
			}
			assertThat(this.events.all()).isEmpty();
		}
	}

	@Test
	void callFailsWhenTheReplyIsUnknown() {
		try (AnsweringServer redis = new AnsweringServer("INCR", "HTTP/1.1 400 Bad Request\r\n", Connecting.NOTHING);
				Server server = Connecting.to(redis.uri().getPort(), Increment.LONG, this.events)) {
			assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(() -> Increment.of(server, "a"))
				.withMessage("Unknown reply: H");
		}
	}

	@Test
	void sentinelThatFailsIsAskedOnceASecond() {
		try (AnsweringServer sentinel = new AnsweringServer("SENTINEL", "*2\r\n$9\r\n127.0.0.1\r\n$4\r\n6379\r\n",
				Connecting.NOTHING); FaultyProxy proxy = new FaultyProxy(sentinel.uri())) {
			SentinelMaster master = new SentinelMaster("main",
					Set.of(new HostAndPort("127.0.0.1", proxy.uri().getPort())),
					DefaultJedisClientConfig.builder().build());
			HostAndPort named = new HostAndPort("127.0.0.1", 6379);
			assertThat(master.get(Increment.LONG.toNanos())).isEqualTo(named);
			proxy.lose(Integer.MAX_VALUE);
			master.leave();
			int before = proxy.connections();
			long start = System.nanoTime();
			for (int i = 0; i < 100; i++) {
				assertThat(master.get(Increment.LONG.toNanos())).isEqualTo(named);
			}
			int seconds = (int) Duration.ofNanos(System.nanoTime() - start).toSeconds();
			assertThat(proxy.connections() - before).isBetween(1, 1 + seconds);
		}
	}

	@Test
	void noSentinelIsLostWhenSeveralThreadsLeave() {
		Set<HostAndPort> sentinels = Set.of(new HostAndPort("127.0.0.1", 1), new HostAndPort("127.0.0.1", 2),
				new HostAndPort("127.0.0.1", 3));
		SentinelMaster master = new SentinelMaster("main", sentinels, DefaultJedisClientConfig.builder().build());
		List<CompletableFuture<Void>> threads = Stream.generate(() -> CompletableFuture.runAsync(() -> {
			for (int i = 0; i < 100_000; i++) {
				master.leave();
			}
		})).limit(2).toList();
		threads.forEach(CompletableFuture::join);
		assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(() -> master.get(0))
			.withMessageContainingAll(sentinels.stream().map(HostAndPort::toString).toArray(String[]::new));
	}

}
