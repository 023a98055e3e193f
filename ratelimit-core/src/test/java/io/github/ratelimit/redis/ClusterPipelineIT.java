package io.github.ratelimit.redis;

import java.time.InstantSource;
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
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.redis.connection.DirectServers;
import io.github.ratelimit.redis.connection.Servers;
import io.github.ratelimit.test.ChargeContract;
import io.github.ratelimit.test.CountDeniedContract;
import io.github.ratelimit.test.DecisionContract;
import io.github.ratelimit.test.RefundContract;
import io.github.ratelimit.test.ShadowContract;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Plain commands in a cluster.
 */
class ClusterPipelineIT {

	private static final TestCluster CLUSTER = TestCluster.shared();

	private static final Servers SERVERS = DirectServers.of(CLUSTER);

	private static final int THREADS = 8;

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private static RateLimiter create(InstantSource clock) {
		return PipelineRateLimiterIT.create(SERVERS, TestRedis.newKeyPrefix()).withClock(clock);
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
		RateLimiter limiter = PipelineRateLimiterIT.create(SERVERS, this.keyPrefix);
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
	class Shadows extends ShadowContract {

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
