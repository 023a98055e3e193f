package io.github.ratelimit.redis;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.redis.connection.CallException;
import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * How long calls may take, what is said of failures, and that what a listener throws is
 * none of those who send.
 */
class RedisConnectionsTests {

	private static final Duration BUDGET = Duration.ofMillis(100);

	@Test
	void firstCallsEndTogetherAndOthersWithTheirBudget() {
		HostAndPort closed = new HostAndPort("127.0.0.1", TestRedis.freePort());
		try (RedisConnections redis = RedisConnections.server(closed).timeBudget(BUDGET).build()) {
			long first = redis.deadline();
			assertThat(first - System.nanoTime()).isGreaterThan(BUDGET.toNanos());
			assertThat(redis.deadline()).isBetween(first - BUDGET.toNanos(), first + BUDGET.toNanos());
			assertThat(redis.connect(Duration.ofMillis(1))).isFalse();
			assertThat(redis.deadline() - System.nanoTime()).isLessThanOrEqualTo(BUDGET.toNanos());
		}
	}

	@Test
	void reasonAddsTheAddressOfARefusedConnection() {
		int port = TestRedis.freePort();
		try (RedisConnections redis = RedisConnections.server(new HostAndPort("127.0.0.1", port)).build()) {
			RedisRateLimiter limiter = RedisRateLimiter.of(redis);
			Policy policy = Policy.of("api", new FixedWindow(), new Limit(1, Duration.ofDays(1)));
			assertThatExceptionOfType(StoreException.class)
				.isThrownBy(() -> limiter.tryAcquire(policy, Identifier.GLOBAL))
				.satisfies((ex) -> assertThat(ex.reason())
					.startsWith("Failed to connect to 127.0.0.1:%d: java.net.ConnectException: ".formatted(port)));
		}
	}

	static Stream<Arguments> failures() {
		CallException unsent = new CallException(Reason.OUTAGE, "It was not sent",
				new JedisConnectionException(new IOException("gone")));
		return Stream.of(
				Arguments.of(new CallException(Reason.NODE, "The node 127.0.0.1:7000 does not answer", unsent),
						"The node 127.0.0.1:7000 does not answer: java.io.IOException: gone"),
				Arguments.of(new CallException(Reason.NODE, "The node 127.0.0.1:7000 has not the slot", null),
						"io.github.ratelimit.redis.connection.CallException: The node 127.0.0.1:7000 has not the slot"));
	}

	/** Which may not name it, or is no more than an error. */
	@ParameterizedTest
	@MethodSource("failures")
	void reasonHasTheNodeOfTheFailure(CallException failure, String reason) {
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> Failures.run("ask", () -> {
			throw failure;
		})).satisfies((ex) -> assertThat(ex.reason()).isEqualTo(reason));
	}

	private final List<String> told = new ArrayList<>();

	private boolean failing;

	private final ListenerAdapter adapter = new ListenerAdapter("server", new RedisListener() {

		@Override
		public void stoppedAnswering(String server, Throwable reason) {
			tell(server + " stopped: " + reason.getMessage());
		}

		@Override
		public void answersAgain(String server, Duration outage) {
			tell(server + " answers after " + outage);
		}

		@Override
		public void queueFull(String server) {
			tell(server + " is full");
		}

		@Override
		public void answered(String server, int calls, Duration time) {
			tell(server + " answered " + calls + " in " + time);
		}

	}, () -> {
	});

	private void tell(String text) {
		this.told.add(text);
		if (this.failing) {
			throw new NoClassDefFoundError();
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void eventsReachTheListenerWhetherItFailsOrNot(boolean failing) {
		this.failing = failing;
		this.adapter.opened(new JedisException("gone"));
		this.adapter.closed(Duration.ofSeconds(3));
		this.adapter.overloaded();
		this.adapter.batch(7, 5_000_000);
		assertThat(this.told).containsExactly("server stopped: gone", "server answers after PT3S", "server is full",
				"server answered 7 in PT0.005S");
	}

}
