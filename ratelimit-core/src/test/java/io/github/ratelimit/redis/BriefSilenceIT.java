package io.github.ratelimit.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Stream;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
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
import io.github.ratelimit.test.StoreTest;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What policies that allow requests without a store do while nobody can know yet that
 * Redis is gone.
 */
@SuppressWarnings("try")
class BriefSilenceIT extends StoreTest {

	private static final Duration BUDGET = Duration.ofMillis(100);

	/** How long connections wait, and how long a silence is brief. */
	private static final Duration FOR_EVER = Duration.ofHours(1);

	private static final Duration SHORT = Duration.ofMillis(500);

	@AutoClose
	private static final OwnRedis REDIS = new OwnRedis();

	private final RateLimitRequest request = request(policy(new FixedWindow(), "1/3650d"), 1);

	private static OutageRateLimiter limiter(RateLimiter store) {
		return new OutageRateLimiter(store, (policy) -> OnStoreFailure.ALLOW,
				new LocalRateLimiter(new MemoryRateLimiter(InstantSource.system())),
				(failure) -> RedisErrorKind.of(failure).isUnanswered());
	}

	private static OutageRateLimiter scripts(RedisConnections redis) {
		return limiter(RedisRateLimiter.of(redis, TestRedis.newKeyPrefix()));
	}

	static Stream<Named<Function<RedisConnections, OutageRateLimiter>>> stores() {
		return Stream.of(Named.of("scripts", BriefSilenceIT::scripts), Named.of("plain commands",
				(redis) -> limiter(PipelineRateLimiter.of(redis, TestRedis.newKeyPrefix()))));
	}

	/** Connections that know a silence when they cannot be made for the same time. */
	private static RedisConnections.Builder connections(URI uri, boolean cluster, Duration patience) {
		HostAndPort address = new HostAndPort("127.0.0.1", uri.getPort());
		return (cluster ? RedisConnections.cluster(Set.of(address)) : RedisConnections.server(address))
			.timeBudget(BUDGET)
			.lasting(patience)
			.config(DefaultJedisClientConfig.builder()
				.connectionTimeoutMillis(Math.toIntExact(patience.toMillis()))
				.build());
	}

	private List<Decision> decisions(RateLimiter limiter, int number) {
		return Stream.generate(() -> limiter.tryAcquire(this.request)).limit(number).toList();
	}

	private void assertLimitedLocally(RateLimiter limiter) {
		List<Decision> decisions = decisions(limiter, 20);
		assertThat(decisions).extracting(Decision::source).containsOnly(Source.LOCAL);
		assertThat(decisions).filteredOn(Decision::allowed).hasSize(1);
	}

	private void awaitSource(RateLimiter limiter, Source source) {
		TestCluster.await("Decisions come from " + source, () -> limiter.peek(this.request).source() == source);
	}

	@ParameterizedTest
	@MethodSource("stores")
	void nothingIsUnlimitedWhenSilenceIsBrief(Function<RedisConnections, OutageRateLimiter> store) {
		try (FaultyProxy proxy = new FaultyProxy(REDIS.uri());
				RedisConnections connections = connections(proxy.uri(), false, FOR_EVER).build()) {
			OutageRateLimiter limiter = store.apply(connections);
			awaitSource(limiter, Source.STORE);
			proxy.delay(FOR_EVER);
			assertLimitedLocally(limiter);
			assertThat(limiter.failingSince()).isEmpty();
			assertThat(limiter.busyCount()).isGreaterThanOrEqualTo(20);
		}
	}

	/** That to a login, or which node of a cluster has which slot. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void nothingIsUnlimitedWhenTheFirstAnswerIsLate(boolean cluster) {
		try (FaultyProxy proxy = new FaultyProxy(REDIS.uri());
				RedisConnections connections = connections(proxy.uri(), cluster, FOR_EVER).build()) {
			proxy.delay(FOR_EVER);
			assertLimitedLocally(scripts(connections));
		}
	}

	@ParameterizedTest
	@MethodSource("stores")
	void allRequestsAreAllowedWhenSilenceLasts(Function<RedisConnections, OutageRateLimiter> store) {
		try (RedisConnections connections = connections(REDIS.uri(), false, SHORT).build()) {
			OutageRateLimiter limiter = store.apply(connections);
			awaitSource(limiter, Source.STORE);
			try (StoppedServer stopped = StoppedServer.stop(REDIS.jedis())) {
				awaitSource(limiter, Source.NONE);
				assertThat(decisions(limiter, 20)).extracting(Decision::source).containsOnly(Source.NONE);
				assertThat(limiter.isUnanswered()).isTrue();
			}
		}
	}

	/** A new connection can be made at once. */
	@ParameterizedTest
	@MethodSource("stores")
	void nothingIsUnlimitedWhenConnectionsBreak(Function<RedisConnections, OutageRateLimiter> store) {
		try (FaultyProxy proxy = new FaultyProxy(REDIS.uri());
				RedisConnections connections = connections(proxy.uri(), false, FOR_EVER).build()) {
			OutageRateLimiter limiter = store.apply(connections);
			awaitSource(limiter, Source.STORE);
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
			assertThat(decisions(scripts(connections), 3)).extracting(Decision::source).containsOnly(Source.NONE);
		}
	}

	@Test
	void requestUnderWayIsAllowedWhenConnectionsAreRefused() {
		try (FaultyProxy proxy = new FaultyProxy(REDIS.uri());
				RedisConnections connections = connections(proxy.uri(), false, SHORT).connections(1)
					.timeBudget(Duration.ofMinutes(1))
					.build()) {
			OutageRateLimiter limiter = scripts(connections);
			awaitSource(limiter, Source.STORE);
			proxy.refuseConnections();
			proxy.lose(1);
			assertThat(limiter.tryAcquire(this.request).source()).isEqualTo(Source.NONE);
			assertThat(limiter.lastFailure().map(RedisErrorKind::of)).contains(RedisErrorKind.CONNECTION);
		}
	}

	/**
	 * Everything else is answered. The server may say that it is a cluster of one node.
	 */
	@ParameterizedTest
	@CsvSource({ "false, false", "false, true", "true, false", "true, true" })
	void allRequestsAreAllowedWhenNoDecisionIsAnswered(boolean broken, boolean cluster) {
		Runnable fault = broken ? () -> {
			throw new UncheckedIOException(new IOException("of a test"));
		} : () -> new CompletableFuture<>().join();
		try (AnsweringServer server = new AnsweringServer("EVALSHA", "*0\r\n", fault);
				RedisConnections connections = connections(server.uri(), cluster, broken ? Duration.ZERO : SHORT)
					.timeBudget(broken ? Duration.ofMinutes(1) : BUDGET)
					.build()) {
			OutageRateLimiter limiter = scripts(connections);
			TestCluster.await("It is known",
					() -> decisions(limiter, 10).stream().map(Decision::source).allMatch(Source.NONE::equals));
			Instant since = limiter.failingSince().orElseThrow();
			assertThat(decisions(limiter, 100)).extracting(Decision::source).containsOnly(Source.NONE);
			assertThat(limiter.failingSince()).contains(since);
			assertThat(limiter.isUnanswered()).isTrue();
		}
	}

}
