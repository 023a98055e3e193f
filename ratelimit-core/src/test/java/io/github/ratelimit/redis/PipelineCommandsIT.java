package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.redis.connection.DirectServers;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.exceptions.JedisConnectionException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a request without scripts costs: which commands the server executes, and how often
 * the client waits for it.
 */
class PipelineCommandsIT {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Identifier ADDRESS = Identifier.ip("203.0.113.7");

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:00.5Z");

	private DirectServers servers;

	private RedisMonitor monitor;

	/** By the real clock, with windows that do not end within the test. */
	private RateLimiter limiter;

	@BeforeEach
	void start() throws Exception {
		this.servers = DirectServers.create();
		this.limiter = PipelineRateLimiterIT.create(this.servers, this.keyPrefix);
		this.monitor = RedisMonitor.start(this.keyPrefix);
	}

	@AfterEach
	void stop() {
		this.monitor.close();
	}

	static Stream<Algorithm> algorithms() {
		return PipelineRateLimiterIT.algorithms();
	}

	private static Policy policy(String name, Algorithm algorithm) {
		return Policy.of(name, algorithm, Limit.parse("3/100d"), Limit.parse("5/3650d"));
	}

	private static RateLimitRequest everything() {
		return new RateLimitRequest(
				algorithms().map((algorithm) -> Charge.of(policy(algorithm.name(), algorithm), ALICE, ADDRESS))
					.toList());
	}

	@Test
	void callOfAllAlgorithmsIsOneRoundTripUnlessDenied() {
		RateLimitRequest request = everything();
		for (int i = 0; i < 3; i++) {
			assertThat(this.limiter.tryAcquire(request).allowed()).isTrue();
			assertThat(this.servers.count()).isEqualTo(1);
		}
		assertThat(this.limiter.tryAcquire(request).allowed()).isFalse();
		assertThat(this.servers.count()).isEqualTo(2);
		assertThat(this.limiter.peek(request).allowed()).isFalse();
		assertThat(this.servers.count()).isEqualTo(1);
		this.limiter.charge(request);
		assertThat(this.servers.count()).isEqualTo(1);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void deniedRequestIsTakenBackInASecondRoundTrip(Algorithm algorithm) {
		Policy policy = policy("api", algorithm);
		assertThat(this.limiter.tryAcquire(policy, ALICE, 3).allowed()).isTrue();
		assertThat(this.servers.count()).isEqualTo(1);
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
		assertThat(this.servers.count()).isEqualTo(2);
		assertThat(this.limiter.tryAcquire(policy.withCountDenied(true), ALICE).allowed()).isFalse();
		assertThat(this.servers.count()).isEqualTo(1);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void requestStaysDeniedWhenItCannotBeCancelled(Algorithm algorithm) {
		Policy policy = policy("api", algorithm);
		this.limiter.tryAcquire(policy, ALICE, 2);
		this.servers.before(2, () -> {
			throw new JedisConnectionException("Broken by the test");
		});
		assertThat(this.limiter.tryAcquire(policy, ALICE, 2).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

	static Stream<Arguments> commands() {
		return Stream.of(Arguments.of(new FixedWindow(), List.of("INCRBY", "PEXPIRE", "MGET")),
				Arguments.of(new FirstRequestWindow(), List.of("SET", "INCRBY", "MGET", "PTTL")));
	}

	@ParameterizedTest
	@MethodSource("commands")
	void deniedRequestIsReadAndTakenBack(Algorithm algorithm, List<String> commands) throws InterruptedException {
		Policy policy = Policy.of("api", algorithm, Limit.parse("1/3650d"));
		this.limiter.tryAcquire(policy, ALICE);
		assertThat(this.monitor.commands()).isEqualTo(commands);
		this.limiter.tryAcquire(policy, ALICE);
		assertThat(this.monitor.commands()).startsWith(commands.toArray(String[]::new))
			.endsWith("SET", "DECRBY")
			.hasSize(commands.size() + 2);
	}

	/** What is given back must not fall into the next window. */
	@Test
	void nothingIsGivenBackShortlyBeforeTheWindowEnds() throws InterruptedException {
		Policy full = Policy.of("full", new FixedWindow(), Limit.parse("1/3650d"));
		this.limiter.tryAcquire(full, ALICE);
		this.monitor.commands();
		Policy policy = Policy.of("api", new FirstRequestWindow(), Limit.parse("5/10s"));
		assertThat(this.limiter.tryAcquire(RateLimitRequest.of(Charge.of(policy, ALICE), Charge.of(full, ALICE)))
			.allowed()).isFalse();
		assertThat(this.monitor.commands()).containsExactly("SET", "INCRBY", "MGET", "PTTL", "INCRBY", "PEXPIRE",
				"MGET", "SET", "DECRBY");
		this.limiter.refund(RateLimitRequest.of(policy, ALICE));
		assertThat(this.monitor.commands()).containsExactly("MGET", "PTTL");
	}

	@Test
	void commandsOfSlidingWindowAreOneReadForEachPrecision() throws InterruptedException {
		Policy bySecond = Policy.of("api", new SlidingWindow(Duration.ofSeconds(1)), Limit.parse("1000/s"),
				Limit.parse("5000/10s"), Limit.parse("7000/15s"));
		this.limiter.tryAcquire(bySecond, ALICE);
		assertThat(this.monitor.commands()).containsExactly("INCRBY", "PEXPIRE", "MGET");
		assertThat(this.servers.count()).isEqualTo(1);
		this.limiter.tryAcquire(policy("own", new SlidingWindow()), ALICE);
		assertThat(this.monitor.commands()).containsExactly("INCRBY", "PEXPIRE", "MGET", "INCRBY", "PEXPIRE", "MGET");
	}

	@Test
	void impossibleCostsAndPeeksWriteNothing() throws InterruptedException {
		RateLimitRequest request = everything();
		Policy small = Policy.of("small", new FixedWindow(), Limit.parse("1/3650d"));
		this.limiter.tryAcquire(RateLimitRequest.of(request.charges().get(0), request.charges().get(1),
				Charge.of(small, ALICE).withCost(2)));
		this.limiter.peek(request);
		this.limiter
			.tryAcquire(new RateLimitRequest(request.charges().stream().map((charge) -> charge.withCost(0)).toList()));
		assertThat(this.monitor.commands()).containsOnly("MGET", "PTTL");
		assertThat(TestRedis.client().keys(this.keyPrefix + ":*")).isEmpty();
	}

	@Test
	void refundReadsAndThenWrites() throws InterruptedException {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("5/3650d"));
		this.limiter.refund(RateLimitRequest.of(policy, ALICE));
		assertThat(this.monitor.commands()).containsExactly("MGET");
		this.limiter.tryAcquire(policy, ALICE, 2);
		this.monitor.commands();
		this.limiter.refund(RateLimitRequest.of(policy, ALICE));
		assertThat(this.monitor.commands()).containsExactly("MGET", "SET", "DECRBY");
	}

}
