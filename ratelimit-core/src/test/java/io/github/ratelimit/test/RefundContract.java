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
 * What is given back, and what is forgotten.
 */
public abstract class RefundContract extends RateLimiterContract {

	@ParameterizedTest
	@MethodSource("algorithms")
	void refundGivesBackButNeverMoreThanWasUsed(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("10/m"), Limit.parse("30/h"));
		this.limiter.refund(request(policy, 4));
		assertThat(remaining(policy, ALICE)).containsExactly(10L, 30L);
		this.limiter.tryAcquire(policy, ALICE, 5);
		this.limiter.tryAcquire(policy, ALICE, 3);
		this.limiter.refund(request(policy, 0));
		assertThat(remaining(policy, ALICE)).containsExactly(2L, 22L);
		this.limiter.refund(request(policy, 4));
		assertThat(remaining(policy, ALICE)).containsExactly(6L, 26L);
		this.limiter.refund(request(policy, Long.MAX_VALUE));
		assertThat(remaining(policy, ALICE)).containsExactly(10L, 30L);
		assertThat(this.limiter.tryAcquire(policy, ALICE, 10).allowed()).isTrue();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void refundUndoesTheLastRequestExactly(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("10/m"));
		this.limiter.tryAcquire(policy, ALICE, 2);
		this.clock.advance(Duration.ofSeconds(5));
		Decision before = this.limiter.peek(request(policy, 10));
		this.limiter.tryAcquire(policy, ALICE, 6);
		this.limiter.refund(request(policy, 6));
		assertThat(this.limiter.peek(request(policy, 10))).isEqualTo(before);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void refundedQuotaCanBeUsedAtOnce(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("7/s"));
		for (int cost = 1; cost <= 7; cost++) {
			this.limiter.reset(policy, ALICE);
			this.limiter.tryAcquire(policy, ALICE, 7);
			this.limiter.refund(request(policy, cost));
			assertThat(remaining(policy, ALICE)).containsExactly((long) cost);
			assertThat(this.limiter.tryAcquire(policy, ALICE, cost).allowed()).isTrue();
			assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
		}
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void resetForgetsOnePolicyOfOneIdentifier(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		Policy other = Policy.of("other", algorithm, Limit.parse("5/m"));
		this.limiter.tryAcquire(RateLimitRequest.of(Charge.of(policy, ALICE, ADDRESS), Charge.of(other, ALICE)));
		this.limiter.reset(policy, ALICE);
		assertThat(remaining(policy, ALICE)).containsExactly(5L);
		assertThat(remaining(policy, ADDRESS)).containsExactly(4L);
		assertThat(remaining(other, ALICE)).containsExactly(4L);
	}

}
