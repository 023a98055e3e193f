package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Denied requests that count, and whose identifiers lie on different nodes of a cluster.
 */
class ClusterCountDeniedIT {

	private static final TestCluster CLUSTER = TestCluster.shared();

	private static final List<Identifier> USERS = ClusterKeys.onDifferentMasters(CLUSTER);

	private static final Identifier ALICE = USERS.get(0);

	private static final Identifier ADDRESS = USERS.get(1);

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:20Z");

	private final RedisConnections redis = CLUSTER.connections().build();

	private final RedisRateLimiter limiter = RedisRateLimiter.of(this.redis, this.keyPrefix).withClock(this.clock);

	private final MemoryRateLimiter memory = new MemoryRateLimiter(this.clock);

	@AfterEach
	void close() {
		this.redis.close();
	}

	static Stream<Algorithm> algorithms() {
		return Stream.concat(RateLimiterContract.algorithms(), RateLimiterContract.variants());
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void denialForABlockElsewhereGivesNothingBack(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("10/d")).withCountDenied(true);
		this.limiter.block(ADDRESS, null, Duration.ofDays(1), "");
		this.memory.block(ADDRESS, null, Duration.ofDays(1), "");
		assertNothingIsGivenBack(RateLimitRequest.of(policy, ALICE), RateLimitRequest.of(policy, ALICE, ADDRESS));
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void denialForAnImpossibleCostElsewhereGivesNothingBack(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("10/d")).withCountDenied(true);
		Policy narrow = Policy.of("narrow", algorithm, Limit.parse("3/d")).withCountDenied(true);
		assertNothingIsGivenBack(RateLimitRequest.of(policy, ALICE),
				RateLimitRequest.of(Charge.of(policy, ALICE), Charge.of(narrow, ADDRESS).withCost(4)));
	}

	/** A request that leads to a block was not blocked before, so it counts. */
	@ParameterizedTest
	@MethodSource("algorithms")
	void denialThatLeadsToABlockElsewhereGivesNothingBack(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("10/d")).withCountDenied(true);
		Policy guarded = Policy.of("guarded", new FixedWindow(), Limit.parse("0/h"))
			.withPenalty(new Penalty(1, Duration.ofMinutes(1), Duration.ofMinutes(1), Duration.ofMinutes(1), false));
		assertNothingIsGivenBack(RateLimitRequest.of(policy, ALICE),
				RateLimitRequest.of(Charge.of(policy, ALICE), Charge.of(guarded, ADDRESS)));
	}

	private void assertNothingIsGivenBack(RateLimitRequest own, RateLimitRequest both) {
		for (int i = 0; i < 10; i++) {
			assertThat(decide(own).allowed()).isTrue();
		}
		for (int i = 0; i < 3; i++) {
			assertThat(decide(own).allowed()).isFalse();
			assertThat(decide(both).allowed()).isFalse();
			this.clock.advance(Duration.ofSeconds(1));
		}
	}

	/** Decides as the store in memory does. */
	private Decision decide(RateLimitRequest request) {
		Decision decision = this.limiter.tryAcquire(request);
		assertThat(decision).isEqualTo(this.memory.tryAcquire(request));
		return decision;
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void statusesAreOfAfterTheDenialWasCounted(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("3/10s"), Limit.parse("30/30d")).withCountDenied(true);
		RateLimitRequest request = RateLimitRequest.of(Charge.of(policy, ALICE, ADDRESS).withCost(2));
		decide(RateLimitRequest.of(Charge.of(policy, ALICE).withCost(3)));
		this.clock.advance(Duration.ofMillis(11));
		for (int i = 0; i < 4; i++) {
			decide(request);
			this.clock.advance(Duration.ofSeconds(1));
		}
	}

	@Test
	void windowThatTheDenialBeganIsTold() {
		Policy policy = Policy.of("api", new FirstRequestWindow(), Limit.parse("3/10s")).withCountDenied(true);
		decide(RateLimitRequest.of(Charge.of(policy, ALICE).withCost(3)));
		Decision denied = decide(RateLimitRequest.of(Charge.of(policy, ALICE, ADDRESS).withCost(2)));
		assertThat(denied.statuses()).extracting(LimitStatus::retryAfter).containsOnly(Duration.ofSeconds(10));
		assertThat(denied.violated()).extracting(LimitStatus::identifier).containsExactly(ALICE);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void failureOfAnotherNodeGivesNothingBack(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("10/d")).withCountDenied(true);
		HostAndPort address = CLUSTER.master(ClusterKeys.slot(ADDRESS)).address();
		try (RedisConnections broken = CLUSTER.connections()
			.config(DefaultJedisClientConfig.builder()
				.hostAndPortMapper((node) -> node.equals(address) ? new HostAndPort("127.0.0.1", 1) : node)
				.build())
			.build()) {
			RateLimiter failing = RedisRateLimiter.of(broken, this.keyPrefix).withClock(this.clock);
			assertThat(decide(RateLimitRequest.of(Charge.of(policy, ALICE).withCost(10))).allowed()).isTrue();
			for (int i = 0; i < 3; i++) {
				assertThatExceptionOfType(StoreException.class)
					.isThrownBy(() -> failing.tryAcquire(RateLimitRequest.of(policy, ALICE, ADDRESS)));
				assertThat(decide(RateLimitRequest.of(policy, ALICE)).allowed()).isFalse();
			}
		}
	}

}
