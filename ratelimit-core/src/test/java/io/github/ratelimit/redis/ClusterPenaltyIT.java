package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.Block;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Penalties of identifiers that are on different nodes, and not where the list of blocks
 * is.
 */
class ClusterPenaltyIT {

	private static final TestCluster CLUSTER = TestCluster.shared();

	private static final Policy LOGIN = Policy.of("login", new FixedWindow(), Limit.parse("1/3650d"))
		.withPenalty(new Penalty(3, Duration.ofMinutes(10), Duration.ofMinutes(15), Duration.ofHours(2)));

	private final List<Block> made = new ArrayList<>();

	private final List<Block> shadows = new ArrayList<>();

	private final RedisConnections redis = CLUSTER.connections().build();

	private final RedisRateLimiter limiter = RedisRateLimiter.of(this.redis, TestRedis.newKeyPrefix())
		.withPenaltyListener((block, shadow) -> (shadow ? this.shadows : this.made).add(block));

	/** One on each node. */
	private final List<Identifier> users = ClusterKeys.onDifferentMasters(CLUSTER);

	@AfterEach
	void close() {
		this.redis.close();
	}

	@Test
	void blocksOfAllNodesAreListedAndEnded() {
		for (Identifier user : this.users) {
			for (int i = 0; i < 4; i++) {
				this.limiter.tryAcquire(LOGIN, user);
			}
			assertThat(this.limiter.tryAcquire(LOGIN, user).blockedFor()).isPositive();
		}
		assertThat(this.made).extracting(Block::identifier).isEqualTo(this.users);
		assertThat(this.limiter.blocks()).containsExactlyInAnyOrderElementsOf(this.made);
		for (Identifier user : this.users) {
			assertThat(this.limiter.unblock(user, "login")).isTrue();
			assertThat(this.limiter.tryAcquire(LOGIN, user).blockedFor()).isNull();
		}
		assertThat(this.limiter.blocks()).isEmpty();
	}

	@Test
	void onlyIdentifiersWhoseOwnLimitIsViolatedArePenalized() {
		this.limiter.tryAcquire(LOGIN, this.users.get(1));
		RateLimitRequest all = RateLimitRequest.of(LOGIN, this.users.toArray(Identifier[]::new));
		Decision last = null;
		for (int i = 0; i < 3; i++) {
			last = this.limiter.tryAcquire(all);
			assertThat(last.allowed()).isFalse();
		}
		assertThat(last.blockedFor()).isEqualTo(Duration.ofMinutes(15));
		assertThat(this.made).extracting(Block::identifier).containsExactly(this.users.get(1));
		assertThat(this.limiter.tryAcquire(LOGIN, this.users.get(0)).allowed()).isTrue();
	}

	@Test
	void denialsOfOthersAreCountedOnTheirNodes() {
		this.limiter.countDenials(List.of(new Charge(LOGIN, this.users, 2)));
		assertThat(this.made).isEmpty();
		this.limiter.countDenials(List.of(new Charge(LOGIN, this.users, 1)));
		assertThat(this.made).extracting(Block::identifier).isEqualTo(this.users);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void policyInShadowModeOnlyReports(boolean countDenied) {
		Policy policy = LOGIN.withLimits(List.of(Limit.parse("20/3650d"))).withCountDenied(countDenied);
		RateLimitRequest request = RateLimitRequest
			.of(Charge.of(policy, this.users.toArray(Identifier[]::new)).inShadow());
		this.limiter.tryAcquire(policy, this.users.get(0), 20);
		for (int i = 0; i < 9; i++) {
			assertThat(this.limiter.tryAcquire(request).allowed()).isTrue();
		}
		assertThat(this.shadows).extracting(Block::identifier).containsExactly(this.users.get(0));
		assertThat(this.made).isEmpty();
		assertThat(this.limiter.tryAcquire(policy, this.users.get(0)).blockedFor()).isNull();
	}

	@Test
	void reservedQuotaIsGivenBackWhenAnotherNodePenalizes() {
		Policy wide = Policy.of("wide", new FixedWindow(), Limit.parse("100/3650d"));
		this.limiter.tryAcquire(LOGIN, this.users.get(0));
		RateLimitRequest request = RateLimitRequest.of(Charge.of(LOGIN, this.users.get(0)),
				Charge.of(wide, this.users.get(1), this.users.get(2)));
		for (int i = 0; i < 4; i++) {
			assertThat(this.limiter.tryAcquire(request).allowed()).isFalse();
		}
		assertThat(this.made).hasSize(1);
		assertThat(this.limiter.peek(RateLimitRequest.of(wide, this.users.get(1), this.users.get(2))).statuses())
			.extracting((status) -> status.remaining())
			.containsExactly(100L, 100L);
	}

}
