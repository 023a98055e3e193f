package io.github.ratelimit.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.outage.LocalRateLimiter;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.outage.OutageRateLimiter;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.UnifiedJedis;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What policies that allow requests without a store do while nobody can know yet that
 * Redis is gone.
 */
@SuppressWarnings("try")
class BriefSilenceIT {

	private static final Duration BUDGET = Duration.ofMillis(100);

	/** How long connections wait, and how long a silence is brief. */
	private static final Duration FOR_EVER = Duration.ofHours(1);

	private static final Duration SHORT = Duration.ofMillis(500);

	private static int port;

	private static RedisServer redis;

	private final Policy policy = Policy.of("api", new FixedWindow(), new Limit(1, Limit.MAX_WINDOW));

	private final RateLimitRequest request = RateLimitRequest.of(this.policy, Identifier.user("alice"));

	@BeforeAll
	static void start() {
		port = TestRedis.freePort();
		redis = TestRedis.startServer(port);
	}

	@AfterAll
	static void stop() {
		TestRedis.stop(redis);
	}

	static Stream<String> stores() {
		return Stream.of("scripts", "plain commands");
	}

	private static RateLimiter store(String name, RedisConnections redis) {
		String prefix = TestRedis.newKeyPrefix();
		return name.equals("scripts") ? RedisRateLimiter.of(redis, prefix) : PipelineRateLimiter.of(redis, prefix);
	}

	private static OutageRateLimiter limiter(RateLimiter store) {
		return new OutageRateLimiter(store, (policy) -> OnStoreFailure.ALLOW,
				new LocalRateLimiter(new MemoryRateLimiter(InstantSource.system())),
				(failure) -> RedisErrorKind.of(failure).isUnanswered());
	}

	/** Connections that know a silence when they cannot be made for the same time. */
	private static RedisConnections.Builder patient(RedisConnections.Builder builder, Duration patience) {
		return builder.timeBudget(BUDGET)
			.lasting(patience)
			.config(DefaultJedisClientConfig.builder()
				.connectionTimeoutMillis(Math.toIntExact(patience.toMillis()))
				.build());
	}

	private static RedisConnections connections(int port, Duration patience) {
		return patient(RedisConnections.server(new HostAndPort("127.0.0.1", port)), patience).build();
	}

	private List<Decision> decisions(RateLimiter limiter, int number) {
		return Stream.generate(() -> limiter.tryAcquire(this.request)).limit(number).toList();
	}

	private static void assertLimitedLocally(List<Decision> decisions) {
		assertThat(decisions).extracting(Decision::source).containsOnly(Source.LOCAL);
		assertThat(decisions).filteredOn(Decision::allowed).hasSize(1);
	}

	@ParameterizedTest
	@MethodSource("stores")
	void nothingIsUnlimitedWhenSilenceIsBrief(String name) {
		try (FaultyProxy proxy = new FaultyProxy(URI.create("redis://127.0.0.1:" + port));
				RedisConnections connections = connections(proxy.uri().getPort(), FOR_EVER)) {
			OutageRateLimiter limiter = limiter(store(name, connections));
			awaitStore(limiter);
			proxy.delay(FOR_EVER);
			assertLimitedLocally(decisions(limiter, 20));
			assertThat(limiter.failingSince()).isEmpty();
			assertThat(limiter.busyCount()).isGreaterThanOrEqualTo(20);
		}
	}

	@Test
	void nothingIsUnlimitedWhenOnlyTheFirstLoginIsLate() {
		try (FaultyProxy proxy = new FaultyProxy(URI.create("redis://127.0.0.1:" + port));
				RedisConnections connections = connections(proxy.uri().getPort(), FOR_EVER)) {
			proxy.delay(FOR_EVER);
			assertLimitedLocally(decisions(limiter(store("scripts", connections)), 20));
		}
	}

	@ParameterizedTest
	@MethodSource("stores")
	void allRequestsAreAllowedWhenSilenceLasts(String name) {
		try (UnifiedJedis jedis = JedisClients.create("127.0.0.1", port);
				RedisConnections connections = connections(port, SHORT)) {
			OutageRateLimiter limiter = limiter(store(name, connections));
			awaitStore(limiter);
			try (StoppedServer stopped = StoppedServer.stop(jedis)) {
				TestCluster.await("It is known", () -> limiter.tryAcquire(this.request).source() == Source.NONE);
				assertThat(decisions(limiter, 20)).extracting(Decision::source).containsOnly(Source.NONE);
				assertThat(limiter.isUnanswered()).isTrue();
			}
		}
	}

	/** A new connection can be made at once. */
	@ParameterizedTest
	@MethodSource("stores")
	void nothingIsUnlimitedWhenConnectionsBreak(String name) {
		try (FaultyProxy proxy = new FaultyProxy(URI.create("redis://127.0.0.1:" + port));
				RedisConnections connections = connections(proxy.uri().getPort(), FOR_EVER)) {
			OutageRateLimiter limiter = limiter(store(name, connections));
			awaitStore(limiter);
			for (int i = 0; i < 20; i++) {
				proxy.lose(1);
				assertThat(limiter.tryAcquire(this.request).source()).isNotEqualTo(Source.NONE);
			}
			assertThat(limiter.failingSince()).isEmpty();
		}
	}

	@Test
	void clientOfTheApplicationIsRefusedWithoutBeingSilent() {
		try (UnifiedJedis client = JedisClients.create("127.0.0.1", TestRedis.freePort());
				RedisConnections connections = RedisConnections.client(client)
					.timeBudget(Duration.ofMinutes(1))
					.lasting(FOR_EVER)
					.build()) {
			OutageRateLimiter limiter = limiter(store("scripts", connections));
			assertThat(decisions(limiter, 3)).extracting(Decision::source).containsOnly(Source.NONE);
		}
	}

	@Test
	void requestUnderWayIsAllowedWhenConnectionsAreRefused() throws Exception {
		try (FaultyProxy proxy = new FaultyProxy(URI.create("redis://127.0.0.1:" + port));
				RedisConnections connections = patient(
						RedisConnections.server(new HostAndPort("127.0.0.1", proxy.uri().getPort())), SHORT)
					.connections(1)
					.timeBudget(Duration.ofMinutes(1))
					.build()) {
			OutageRateLimiter limiter = limiter(store("scripts", connections));
			awaitStore(limiter);
			proxy.refuseConnections();
			proxy.lose(1);
			assertThat(limiter.tryAcquire(this.request).source()).isEqualTo(Source.NONE);
			assertThat(limiter.lastFailure().map(RedisErrorKind::of)).contains(RedisErrorKind.CONNECTION);
		}
	}

	private void awaitStore(RateLimiter limiter) {
		TestCluster.await("Redis decides", () -> limiter.peek(this.request).source() == Source.STORE);
	}

	/** The server may say that it is a cluster of one node. */
	private static RedisConnections.Builder builder(AnsweringServer server, boolean cluster) {
		HostAndPort address = new HostAndPort("127.0.0.1", server.uri().getPort());
		return cluster ? RedisConnections.cluster(Set.of(address)) : RedisConnections.server(address);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void allRequestsAreAllowedWhenEachDecisionBreaksItsConnection(boolean cluster) {
		try (AnsweringServer proxy = new AnsweringServer("EVALSHA", "*0\r\n", () -> {
			throw new UncheckedIOException(new IOException("of a test"));
		});
				RedisConnections connections = patient(builder(proxy, cluster), Duration.ZERO)
					.timeBudget(Duration.ofMinutes(1))
					.build()) {
			OutageRateLimiter limiter = limiter(store("scripts", connections));
			TestCluster.await("It is known", () -> limiter.tryAcquire(this.request).source() == Source.NONE);
			Instant since = limiter.failingSince().orElseThrow();
			assertThat(decisions(limiter, 1000)).extracting(Decision::source).containsOnly(Source.NONE);
			assertThat(limiter.failingSince()).contains(since);
			assertThat(limiter.isUnanswered()).isTrue();
			assertThat(limiter.lastFailure().map(RedisErrorKind::of)).contains(RedisErrorKind.CONNECTION);
		}
	}

	/** Everything else is answered. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void allRequestsAreAllowedWhenEachDecisionIsSilent(boolean cluster) {
		CountDownLatch never = new CountDownLatch(1);
		try (AnsweringServer proxy = new AnsweringServer("EVALSHA", "*0\r\n", () -> await(never));
				RedisConnections connections = builder(proxy, cluster).timeBudget(BUDGET).lasting(SHORT).build()) {
			OutageRateLimiter limiter = limiter(store("scripts", connections));
			TestCluster.await("It is known",
					() -> decisions(limiter, 10).stream().map(Decision::source).allMatch(Source.NONE::equals));
			assertThat(decisions(limiter, 100)).extracting(Decision::source).containsOnly(Source.NONE);
			assertThat(limiter.isUnanswered()).isTrue();
		}
		finally {
			never.countDown();
		}
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** All nodes together are silent, before it is known which has which slot. */
	@Test
	void nothingIsUnlimitedWhenSlotsAreLate() {
		try (FaultyProxy proxy = new FaultyProxy(URI.create("redis://127.0.0.1:" + port));
				RedisConnections connections = patient(
						RedisConnections.cluster(Set.of(new HostAndPort("127.0.0.1", proxy.uri().getPort()))), FOR_EVER)
					.build()) {
			proxy.delay(FOR_EVER);
			assertLimitedLocally(decisions(limiter(store("scripts", connections)), 20));
		}
	}

}
