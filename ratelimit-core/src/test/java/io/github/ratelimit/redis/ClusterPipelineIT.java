package io.github.ratelimit.redis;

import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.PenaltyListener;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.redis.connection.DirectServers;
import io.github.ratelimit.redis.connection.Servers;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import io.github.ratelimit.test.Threads;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Plain commands in a cluster.
 */
class ClusterPipelineIT extends PipelineContracts {

	private static final TestCluster CLUSTER = TestCluster.shared();

	private static final Servers SERVERS = DirectServers.of(CLUSTER);

	private static final int THREADS = 8;

	private final String keyPrefix = TestRedis.newKeyPrefix();

	@Override
	public RateLimiter create(InstantSource clock, PenaltyListener listener) {
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
	void noMoreThanTheQuotasIsAllowedOrStaysReserved(Algorithm algorithm) throws Exception {
		Policy each = Policy.of("each", algorithm, Limit.parse("40/h"));
		Policy total = Policy.of("total", algorithm, Limit.parse("301/h"));
		RateLimiter limiter = PipelineRateLimiterIT.create(SERVERS, this.keyPrefix);
		Map<Identifier, LongAdder> allowed = new ConcurrentHashMap<>();
		Threads.run(THREADS, 50, (thread, attempt) -> {
			Identifier user = Identifier.user("user" + attempt % 10);
			if (limiter
				.tryAcquire(RateLimitRequest.of(Charge.of(each, user).withCost(2),
						Charge.of(total, Identifier.GLOBAL).withCost(3)))
				.allowed()) {
				allowed.computeIfAbsent(user, (key) -> new LongAdder()).increment();
			}
		});
		long sum = allowed.values().stream().mapToLong(LongAdder::sum).sum();
		assertThat(sum).isBetween(1L, 100L);
		assertThat(remaining(limiter, total, Identifier.GLOBAL)).isEqualTo(301 - 3 * sum);
		allowed.forEach((user, count) -> assertThat(remaining(limiter, each, user)).isEqualTo(40 - 2 * count.sum()));
	}

	private static long remaining(RateLimiter limiter, Policy policy, Identifier identifier) {
		return limiter.peek(RateLimitRequest.of(policy, identifier)).statuses().get(0).remaining();
	}

}
