package io.github.ratelimit.redis;

import java.time.InstantSource;
import java.util.List;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.PenaltyListener;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.redis.connection.DirectServers;
import io.github.ratelimit.redis.connection.Servers;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

class ClusterPipelineIT extends PipelineContracts {

	private static final Servers SERVERS = DirectServers.of(TestCluster.shared());

	@Override
	public RateLimiter create(InstantSource clock, PenaltyListener listener) {
		return PipelineFixture.create(SERVERS, TestRedis.newKeyPrefix()).withClock(clock);
	}

	/**
	 * What is held at the moment may deny others, but nothing is lost or admitted twice.
	 */
	@ParameterizedTest
	@MethodSource("io.github.ratelimit.test.PipelineContract#algorithms")
	void noMoreThanTheQuotasIsAllowedOrStaysReserved(Algorithm algorithm) throws Exception {
		assertThat(ConcurrencyIT.useSharedQuota(algorithm,
				List.of(PipelineFixture.create(SERVERS, TestRedis.newKeyPrefix()))))
			.isBetween(1L, 100L);
	}

}
