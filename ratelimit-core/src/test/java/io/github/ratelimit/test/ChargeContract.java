package io.github.ratelimit.test;

import java.time.Duration;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is charged afterwards.
 */
public abstract class ChargeContract extends RateLimiterContract {

	@ParameterizedTest
	@MethodSource("algorithms")
	void chargeWithinTheLimitsIsLikeARequest(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("10/m"), Limit.parse("30/h"));
		this.limiter.tryAcquire(request(policy, 7));
		Decision expected = this.limiter.peek(request(policy, 5));
		this.limiter.reset(policy, ALICE);
		this.limiter.charge(request(policy, 7));
		assertThat(this.limiter.peek(request(policy, 5))).isEqualTo(expected);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void chargeIsMadeWhetherItIsAllowedOrNot(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("10/m"), Limit.parse("30/h"));
		this.limiter.tryAcquire(policy, ALICE, 6);
		this.limiter.charge(request(policy, 7));
		assertThat(remaining(policy, ALICE)).containsExactly(0L, 17L);
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void chargeBeyondEveryQuotaUsesThemUp(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("10/m"), Limit.parse("30/h"));
		this.limiter.charge(request(policy, Long.MAX_VALUE));
		assertThat(remaining(policy, ALICE)).containsExactly(0L, 0L);
		this.clock.advance(Duration.ofHours(3));
		assertThat(remaining(policy, ALICE)).containsExactly(10L, 30L);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void nothingIsChargedWhenNothingIsAllowedAnyway(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("0/m"));
		this.limiter.charge(request(policy, 3));
		this.limiter.charge(request(withLimit(policy, "5/m"), 0));
		assertThat(remaining(withLimit(policy, "5/m"), ALICE)).containsExactly(5L);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void chargeBesideALimitOfZeroCounts(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("0/m"), Limit.parse("5/h"));
		this.limiter.charge(request(policy, 3));
		assertThat(remaining(policy, ALICE)).containsExactly(0L, 2L);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void everyPolicyAndIdentifierIsCharged(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		Policy other = Policy.of("other", algorithm, Limit.parse("5/m"));
		this.limiter
			.charge(RateLimitRequest.of(Charge.of(policy, ALICE, ADDRESS).withCost(2), Charge.of(other, ALICE)));
		assertThat(remaining(policy, ALICE)).containsExactly(3L);
		assertThat(remaining(policy, ADDRESS)).containsExactly(3L);
		assertThat(remaining(other, ALICE)).containsExactly(4L);
	}

}
