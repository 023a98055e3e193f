package io.github.ratelimit.redis.connection;

import java.time.Duration;

import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a late call is told of the answers before.
 */
@Timeout(120)
@SuppressWarnings("try")
class SlownessIT {

	private static final Duration BUDGET = Duration.ofMillis(200);

	private static final Duration LONG = Duration.ofSeconds(60);

	@Test
	void lateCallIsToldHowLongTheLastAnswerTook() {
		try (FaultyProxy far = new FaultyProxy(TestRedis.uri())) {
			far.delay(BUDGET.multipliedBy(2));
			try (Server server = Connecting.to(far.uri().getPort(), BUDGET, Connecting.NOBODY)) {
				assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(server, "slow", LONG));
				TestCluster.await("It answers", () -> !server.isUnavailable());
				assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(server, "slow", LONG))
					.havingRootCause()
					.withMessageMatching(".*the last answer took \\d{3,} ms.*ratelimit.redis.timeout.*");
			}
		}
	}

	/** Nobody has measured anything yet. */
	@Test
	void callOnABorrowedConnectionIsToldNothingUnknown() {
		int port = TestRedis.freePort();
		RedisServer redis = TestRedis.startServer(port);
		try (UnifiedJedis client = JedisClients.create("127.0.0.1", port);
				Server server = Connecting.trusting(Connecting.settings("borrowed", LONG),
						BorrowedConnections.of(client), Connecting.NOBODY)) {
			Increment.of(server, "a", LONG);
			try (StoppedServer stopped = StoppedServer.stop(client)) {
				assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(server, "a", BUDGET))
					.satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain("the last answer"));
			}
		}
		finally {
			TestRedis.stop(redis);
		}
	}

}
