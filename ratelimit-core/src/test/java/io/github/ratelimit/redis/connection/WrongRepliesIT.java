package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.stream.Stream;

import io.github.ratelimit.redis.AnsweringServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Servers that are no Redis.
 */
@Timeout(120)
class WrongRepliesIT {

	private static final Duration LONG = Duration.ofSeconds(60);

	private final Events events = new Events();

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
		try (AnsweringServer redis = new AnsweringServer("INCR", reply + ":7\r\n", () -> {
		}); Server server = Connecting.to(redis.uri().getPort(), LONG, this.events)) {
			for (int i = 0; i < 3; i++) {
				assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(server, "a", LONG))
					.isInstanceOfAny(WrongReplyException.class, JedisConnectionException.class);
			}
			assertThat(this.events.all()).isEmpty();
		}
	}

	@Test
	void callFailsWhenTheReplyIsUnknown() {
		try (AnsweringServer redis = new AnsweringServer("INCR", "HTTP/1.1 400 Bad Request\r\n", () -> {
		}); Server server = Connecting.to(redis.uri().getPort(), LONG, this.events)) {
			assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(() -> Increment.of(server, "a", LONG))
				.withMessage("Unknown reply: H");
		}
	}

}
