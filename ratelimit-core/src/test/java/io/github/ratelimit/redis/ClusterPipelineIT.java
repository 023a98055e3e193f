package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.test.ChargeContract;
import io.github.ratelimit.test.CountDeniedContract;
import io.github.ratelimit.test.DecisionContract;
import io.github.ratelimit.test.RefundContract;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestCluster.Node;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Plain commands in a cluster.
 */
class ClusterPipelineIT {

	private static final TestCluster CLUSTER = TestCluster.shared();

	private static final UnifiedJedis CLIENT = TimeBudget
		.ofCluster(Duration.ofSeconds(10), CLUSTER.addresses(), DefaultJedisClientConfig.builder().build(), pool())
		.client();

	private static final int THREADS = 8;

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private static ConnectionPoolConfig pool() {
		ConnectionPoolConfig pool = new ConnectionPoolConfig();
		pool.setMaxTotal(32);
		return pool;
	}

	private static RateLimiter create(InstantSource clock) {
		return PipelineRateLimiter.of(CLIENT, TestRedis.newKeyPrefix()).withClock(clock);
	}

	static Stream<Algorithm> algorithms() {
		return PipelineRateLimiterIT.algorithms();
	}

	/**
	 * What is held at the moment may deny others, but nothing is lost or admitted twice.
	 */
	@ParameterizedTest
	@MethodSource("algorithms")
	void noMoreThanTheQuotasAreAllowedAndNothingStaysHeld(Algorithm algorithm) throws Exception {
		Policy each = Policy.of("each", algorithm, Limit.parse("40/h"));
		Policy total = Policy.of("total", algorithm, Limit.parse("301/h"));
		RateLimiter limiter = PipelineRateLimiter.of(CLIENT, this.keyPrefix);
		Map<Identifier, LongAdder> allowed = new ConcurrentHashMap<>();
		ExecutorService executor = Executors.newFixedThreadPool(THREADS);
		try {
			List<Callable<Void>> callables = IntStream.range(0, THREADS).mapToObj((thread) -> (Callable<Void>) () -> {
				for (int attempt = 0; attempt < 50; attempt++) {
					Identifier user = Identifier.user("user" + attempt % 10);
					if (limiter
						.tryAcquire(RateLimitRequest.of(Charge.of(each, user).withCost(2),
								Charge.of(total, Identifier.GLOBAL).withCost(3)))
						.allowed()) {
						allowed.computeIfAbsent(user, (key) -> new LongAdder()).increment();
					}
				}
				return null;
			}).toList();
			for (Future<Void> result : executor.invokeAll(callables)) {
				result.get();
			}
		}
		finally {
			executor.shutdownNow();
		}
		long sum = allowed.values().stream().mapToLong(LongAdder::sum).sum();
		assertThat(sum).isBetween(1L, 100L);
		assertThat(remaining(limiter, total, Identifier.GLOBAL)).isEqualTo(301 - 3 * sum);
		allowed.forEach((user, count) -> assertThat(remaining(limiter, each, user)).isEqualTo(40 - 2 * count.sum()));
	}

	private static long remaining(RateLimiter limiter, Policy policy, Identifier identifier) {
		return limiter.peek(RateLimitRequest.of(policy, identifier)).statuses().get(0).remaining();
	}

	@Test
	void countsGoOnAfterSlotsHaveMoved() {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("100/3650d"));
		RateLimitRequest request = RateLimitRequest.of(policy,
				ClusterKeys.onDifferentMasters(CLUSTER).toArray(Identifier[]::new));
		RateLimiter limiter = PipelineRateLimiter.of(CLIENT, this.keyPrefix);
		limiter.tryAcquire(request);
		List<Runnable> back = new ArrayList<>();
		try {
			for (Identifier user : request.charges().get(0).identifiers()) {
				int slot = ClusterKeys.slot(user);
				Node from = CLUSTER.master(slot);
				Node to = CLUSTER.otherMasters(slot).get(0);
				TestCluster.beginToMove(slot, from, to);
				CLUSTER.endMove(slot, from, to);
				back.add(() -> {
					TestCluster.beginToMove(slot, to, from);
					CLUSTER.endMove(slot, to, from);
				});
			}
			assertThat(limiter.tryAcquire(request).statuses()).extracting(LimitStatus::remaining).containsOnly(98L);
		}
		finally {
			back.forEach(Runnable::run);
		}
		limiter.refund(request);
		assertThat(limiter.peek(request).statuses()).extracting(LimitStatus::remaining).containsOnly(99L);
	}

	/** Who waits for a second one of a pool waits for others who do the same. */
	@Test
	void oneConnectionToEachNodeIsEnoughForAll() throws Exception {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("1000/3650d"));
		Identifier[] users = IntStream.range(0, 12)
			.mapToObj((i) -> Identifier.user("user" + i))
			.toArray(Identifier[]::new);
		ConnectionPoolConfig pool = new ConnectionPoolConfig();
		pool.setMaxTotal(1);
		ExecutorService executor = Executors.newFixedThreadPool(THREADS);
		try (UnifiedJedis jedis = TimeBudget
			.ofCluster(Duration.ofSeconds(10), CLUSTER.addresses(), DefaultJedisClientConfig.builder().build(), pool)
			.client()) {
			RateLimiter limiter = PipelineRateLimiter.of(jedis, this.keyPrefix);
			List<Callable<Void>> callables = IntStream.range(0, THREADS).mapToObj((thread) -> (Callable<Void>) () -> {
				List<Identifier> order = new ArrayList<>(List.of(users));
				Collections.rotate(order, thread);
				for (int attempt = 0; attempt < 10; attempt++) {
					limiter.tryAcquire(RateLimitRequest.of(policy, order.toArray(Identifier[]::new)));
				}
				return null;
			}).toList();
			for (Future<Void> result : executor.invokeAll(callables)) {
				result.get();
			}
			assertThat(limiter.peek(RateLimitRequest.of(policy, users)).statuses()).extracting(LimitStatus::remaining)
				.containsOnly(1000L - 10 * THREADS);
		}
		finally {
			executor.shutdownNow();
		}
	}

	@Nested
	class Decisions extends DecisionContract {

		public static Stream<Algorithm> algorithms() {
			return PipelineRateLimiterIT.algorithms();
		}

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock) {
			return create(clock);
		}

	}

	@Nested
	class CountedDenials extends CountDeniedContract {

		public static Stream<Algorithm> algorithms() {
			return PipelineRateLimiterIT.algorithms();
		}

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock) {
			return create(clock);
		}

	}

	@Nested
	class Charges extends ChargeContract {

		public static Stream<Algorithm> algorithms() {
			return PipelineRateLimiterIT.algorithms();
		}

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock) {
			return create(clock);
		}

	}

	@Nested
	class Refunds extends RefundContract {

		public static Stream<Algorithm> algorithms() {
			return PipelineRateLimiterIT.algorithms();
		}

		@Override
		protected RateLimiter newRateLimiter(InstantSource clock) {
			return create(clock);
		}

	}

}
