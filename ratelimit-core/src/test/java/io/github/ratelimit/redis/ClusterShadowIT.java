package io.github.ratelimit.redis;

import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestCluster.Node;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Charges in shadow mode whose identifiers lie on different nodes of a cluster.
 */
class ClusterShadowIT {

	private static final TestCluster CLUSTER = TestCluster.shared();

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:20Z");

	private final RedisConnections redis = CLUSTER.connections().build();

	private final RateLimiter limiter = RedisRateLimiter.of(this.redis, this.keyPrefix).withClock(this.clock);

	/** One on each node. */
	private final List<Identifier> users = ClusterKeys.onDifferentMasters(CLUSTER);

	@AfterEach
	void close() {
		this.redis.close();
	}

	static Stream<Algorithm> algorithms() {
		return Stream.concat(RateLimiterContract.algorithms(), RateLimiterContract.variants());
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void shadowThatOneNodeDeniesLeavesNoTrace(Algorithm algorithm) {
		Policy tried = Policy.of("tried", algorithm, Limit.parse("5/d"), Limit.parse("100/30d"));
		Policy other = Policy.of("other", algorithm, Limit.parse("5/d"));
		Policy wide = Policy.of("wide", algorithm, Limit.parse("9/d"));
		this.limiter.tryAcquire(tried, this.users.get(2), 5);
		List<String> before = content("tried");
		RateLimitRequest request = RateLimitRequest.of(new Charge(tried, this.users, 1, true),
				new Charge(wide, this.users, 2), new Charge(other, this.users, 3, true));
		Decision peeked = this.limiter.peek(request);
		Decision decision = this.limiter.tryAcquire(request);
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.statuses()).noneMatch(LimitStatus::violated)
			.extracting(LimitStatus::remaining)
			.containsExactly(7L, 7L, 7L);
		assertThat(decision.shadows().get("tried")).isEqualTo(peeked.shadows().get("tried"));
		assertThat(decision.shadows().get("tried").violated()).extracting(LimitStatus::identifier)
			.containsOnly(this.users.get(2));
		assertThat(decision.shadows().get("other").statuses()).extracting(LimitStatus::remaining)
			.containsExactly(2L, 2L, 2L);
		assertThat(content("tried")).isEqualTo(before);
	}

	private List<String> content(String policy) {
		return ClusterKeys.content(CLUSTER, this.keyPrefix).stream().filter((key) -> key.contains(policy)).toList();
	}

	@Test
	void eachNodeIsAskedOnce() {
		Policy wide = Policy.of("wide", new FixedWindow(), Limit.parse("9/d"));
		Policy tried = Policy.of("tried", new FixedWindow(), Limit.parse("9/d"));
		RateLimitRequest request = RateLimitRequest.of(new Charge(wide, this.users, 1),
				new Charge(tried, this.users, 1, true));
		this.limiter.tryAcquire(request);
		List<Long> before = calls();
		assertThat(this.limiter.tryAcquire(request).allowed()).isTrue();
		assertThat(calls()).isEqualTo(before.stream().map((calls) -> calls + 1).toList());
	}

	private static List<Long> calls() {
		return CLUSTER.nodes()
			.stream()
			.filter(Node::isMaster)
			.map((node) -> node.admin()
				.info("commandstats")
				.lines()
				.filter((line) -> line.startsWith("cmdstat_evalsha:"))
				.mapToLong((line) -> Long.parseLong(line.replaceAll(".*:calls=(\\d+),.*", "$1")))
				.sum())
			.toList();
	}

}
