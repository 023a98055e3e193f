package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.List;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.lease.LeasedRateLimiter;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Leases of identifiers that are on different nodes.
 */
class ClusterLeaseIT {

	private static final TestCluster CLUSTER = TestCluster.shared();

	private static final int QUOTA = 2_000;

	/** One window for the whole test, which no clock ends. */
	private static final Policy POLICY = Policy
		.of("api", new FirstRequestWindow(), new Limit(QUOTA, Duration.ofHours(1)))
		.withLease(Duration.ofMillis(200));

	private final RedisConnections redis = CLUSTER.connections().build();

	private final RedisRateLimiter limiter = RedisRateLimiter.of(this.redis, TestRedis.newKeyPrefix());

	/** One on each node. */
	private final List<Identifier> users = ClusterKeys.onDifferentMasters(CLUSTER);

	@AfterEach
	void close() {
		this.redis.close();
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 3 })
	void twoHoldersAdmitExactlyTheQuota(int identifiers) {
		RateLimitRequest request = request(identifiers);
		List<LeasedRateLimiter> processes = List.of(new LeasedRateLimiter(this.limiter),
				new LeasedRateLimiter(this.limiter));
		int allowed = 0;
		int leased = 0;
		long end = System.nanoTime() + Duration.ofMinutes(1).toNanos();
		for (int i = 0; allowed < QUOTA; i++) {
			// What a process holds and cannot use comes back when its lease ends.
			assertThat(System.nanoTime()).as("time").isLessThan(end);
			Decision decision = processes.get(i % 2).tryAcquire(request);
			allowed += decision.allowed() ? 1 : 0;
			leased += (decision.source() == Source.LEASE) ? 1 : 0;
		}
		processes.forEach((process) -> assertThat(process.tryAcquire(request).allowed()).isFalse());
		assertThat(leased).isGreaterThan(QUOTA / 4);
		processes.forEach(LeasedRateLimiter::close);
		assertThat(remaining(request)).containsOnly(0L).hasSize(identifiers);
	}

	@Test
	void whatIsLeftIsGivenBackToEachNode() {
		Policy policy = POLICY.withLease(Duration.ofMinutes(1));
		RateLimitRequest request = RateLimitRequest.of(policy, this.users.toArray(Identifier[]::new));
		LeasedRateLimiter process = new LeasedRateLimiter(this.limiter);
		long used = 0;
		do {
			assertThat(process.tryAcquire(request).allowed()).isTrue();
			used++;
		}
		while (!isHeld(request, used));
		process.close();
		assertThat(remaining(request)).containsOnly(QUOTA - used).hasSize(3);
	}

	/** Whether more has been taken of each quota than was used. */
	private boolean isHeld(RateLimitRequest request, long used) {
		return remaining(request).stream().allMatch((left) -> left < QUOTA - used);
	}

	private RateLimitRequest request(int identifiers) {
		return RateLimitRequest.of(POLICY, this.users.subList(0, identifiers).toArray(Identifier[]::new));
	}

	private List<Long> remaining(RateLimitRequest request) {
		return this.limiter.peek(request).statuses().stream().map((status) -> status.remaining()).toList();
	}

}
