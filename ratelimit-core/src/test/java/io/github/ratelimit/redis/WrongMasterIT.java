package io.github.ratelimit.redis;

import java.net.URI;
import java.time.Duration;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.UnifiedJedis;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Decisions while a master is no longer the right one and keeps its connections, while
 * new ones are led to another.
 */
@Timeout(120)
class WrongMasterIT {

	private static final int QUOTA = 100;

	private static final Policy POLICY = Policy.of("api", new FixedWindow(), new Limit(QUOTA, Limit.MAX_WINDOW));

	private final int formerPort = TestRedis.freePort();

	private final int presentPort = TestRedis.freePort();

	private RedisServer former;

	private RedisServer present;

	private FaultyProxy name;

	@BeforeEach
	void start() {
		this.former = TestRedis.startServer(this.formerPort);
		this.present = TestRedis.startServer(this.presentPort);
		this.name = new FaultyProxy(uri(this.formerPort));
	}

	@AfterEach
	void stop() {
		this.name.close();
		TestRedis.stop(this.former);
		TestRedis.stop(this.present);
	}

	private static URI uri(int port) {
		return URI.create("redis://127.0.0.1:" + port);
	}

	/** One connection, as another may be in use when the first learns of it. */
	private RedisConnections connections(UnifiedJedis client, boolean borrowed) {
		RedisConnections.Builder builder = borrowed ? RedisConnections.client(client)
				: RedisConnections.server(new HostAndPort("127.0.0.1", this.name.uri().getPort()));
		return builder.connections(1).timeBudget(Duration.ofMinutes(1)).build();
	}

	private static Decision decide(RateLimiter limiter) {
		return limiter.tryAcquire(POLICY, Identifier.user("alice"));
	}

	private static void assertRefused(RateLimiter limiter, RedisErrorKind kind) {
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> decide(limiter))
			.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isEqualTo(kind));
	}

	/** The new master has got no counts of the former one. */
	private static void assertDecidedByNewMaster(RateLimiter limiter) {
		for (int i = 1; i <= 10; i++) {
			assertThat(decide(limiter).statuses()).singleElement()
				.hasFieldOrPropertyWithValue("remaining", (long) QUOTA - i);
		}
	}

	@ParameterizedTest
	@CsvSource({ "scripts, false", "scripts, true", "plain commands, false", "plain commands, true" })
	void oneDecisionIsRefusedWhenMasterBecomesReplica(String store, boolean borrowed) {
		try (UnifiedJedis client = JedisClients.create(this.name.uri());
				RedisConnections connections = connections(client, borrowed);
				Jedis admin = new Jedis("127.0.0.1", this.formerPort)) {
			String prefix = TestRedis.newKeyPrefix();
			RateLimiter limiter = store.equals("scripts") ? RedisRateLimiter.of(connections, prefix)
					: PipelineRateLimiter.of(connections, prefix);
			decide(limiter);
			admin.replicaof("127.0.0.1", this.presentPort);
			this.name.leadTo(uri(this.presentPort));
			assertRefused(limiter, RedisErrorKind.READONLY);
			assertDecidedByNewMaster(limiter);
		}
	}

	/** They are answered before a script runs. */
	@ParameterizedTest
	@CsvSource({ "MASTERDOWN, false", "MASTERDOWN, true", "NOAUTH, false", "NOAUTH, true" })
	void oneDecisionIsRefusedWhenServerSaysItIsWrong(RedisErrorKind error, boolean borrowed) {
		try (AnsweringServer wrong = new AnsweringServer("EVALSHA", "-%s of a test\r\n".formatted(error),
				() -> this.name.leadTo(uri(this.presentPort)))) {
			this.name.leadTo(wrong.uri());
			try (UnifiedJedis client = JedisClients.create(this.name.uri());
					RedisConnections connections = connections(client, borrowed)) {
				RateLimiter limiter = RedisRateLimiter.of(connections, TestRedis.newKeyPrefix());
				assertRefused(limiter, error);
				assertDecidedByNewMaster(limiter);
			}
		}
	}

}
