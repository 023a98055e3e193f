package io.github.ratelimit.test;

import java.time.Duration;
import java.util.List;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is counted besides decisions: what is charged afterwards, given back or forgotten,
 * and by policies that change while they are in use.
 */
public abstract class CountContract extends RateLimiterContract {

	@EachAlgorithm
	void chargeWithinTheLimitsIsLikeARequest(Algorithm algorithm) {
		Policy policy = policy(algorithm, "10/m", "30/h");
		this.limiter.tryAcquire(request(policy, 7));
		Decision expected = this.limiter.peek(request(policy, 5));
		this.limiter.reset(policy, ALICE);
		this.limiter.charge(request(policy, 7));
		assertThat(this.limiter.peek(request(policy, 5))).isEqualTo(expected);
	}

	@EachAlgorithm
	void chargeIsMadeWhetherItIsAllowedOrNot(Algorithm algorithm) {
		Policy policy = policy(algorithm, "10/m", "30/h");
		this.limiter.tryAcquire(policy, ALICE, 6);
		this.limiter.charge(request(policy, 7));
		assertThat(remaining(policy, ALICE)).containsExactly(0L, 17L);
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
		this.limiter.charge(request(policy, Long.MAX_VALUE));
		assertThat(remaining(policy, ALICE)).containsExactly(0L, 0L);
		this.clock.advance(Duration.ofHours(3));
		assertThat(remaining(policy, ALICE)).containsExactly(10L, 30L);
	}

	@EachAlgorithm
	void chargeAtAQuotaOfZeroCountsForOtherLimits(Algorithm algorithm) {
		Policy none = policy(algorithm, "0/m");
		this.limiter.charge(request(none, 3));
		this.limiter.charge(request(withLimit(none, "5/m"), 0));
		assertThat(remaining(withLimit(none, "5/m"), ALICE)).containsExactly(5L);
		Policy beside = policy("beside", algorithm, "0/m", "5/h");
		this.limiter.charge(request(beside, 3));
		assertThat(remaining(beside, ALICE)).containsExactly(0L, 2L);
	}

	@EachAlgorithm
	void chargeThatIsRefundedChangesNothingEvenBeyondTheQuota(Algorithm algorithm) {
		Policy policy = policy(algorithm, "10/m", "30/h");
		this.limiter.tryAcquire(policy, ALICE, 3);
		this.clock.advance(Duration.ofSeconds(2));
		for (long used : new long[] { 2, 5, 0 }) {
			this.limiter.tryAcquire(policy, ALICE, used);
			Decision before = this.limiter.peek(request(policy, 10));
			for (long cost = 1; cost <= 10; cost++) {
				this.limiter.charge(request(policy, cost));
				this.limiter.refund(request(policy, cost));
				assertThat(this.limiter.peek(request(policy, 10))).isEqualTo(before);
			}
		}
	}

	/** As where some requests cost more than was asked for, and others nothing. */
	@EachAlgorithm
	void chargesThatAreRefundedMintNothing(Algorithm algorithm) {
		Policy policy = policy(algorithm, "100/m");
		for (long cost : new long[] { 1, 10, 33, 100 }) {
			this.limiter.reset(policy, ALICE);
			long admitted = 0;
			for (int i = 0; i < 120; i++) {
				this.limiter.charge(request(policy, cost));
				this.limiter.refund(request(policy, cost));
				admitted += this.limiter.tryAcquire(policy, ALICE, cost).allowed() ? cost : 0;
			}
			assertThat(admitted).isEqualTo(100 / cost * cost);
		}
	}

	/** A quota of charges beyond the quota is remembered, whoever is denied meanwhile. */
	@EachAlgorithm
	void chargesBeyondTheQuotaCanBeRefundedTogether(Algorithm algorithm) {
		for (boolean countDenied : List.of(false, true)) {
			Policy policy = policy(algorithm, "10/m").withCountDenied(countDenied);
			this.limiter.reset(policy, ALICE);
			this.limiter.tryAcquire(policy, ALICE, 10);
			for (int i = 0; i < 10; i++) {
				this.limiter.charge(request(policy, 1));
			}
			assertThat(this.limiter.tryAcquire(policy, ALICE, 10).allowed()).isFalse();
			for (int i = 0; i < 10; i++) {
				assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
				this.limiter.refund(request(policy, 1));
			}
			assertThat(remaining(policy, ALICE)).containsExactly(0L);
			assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
		}
	}

	@EachAlgorithm
	void chargesBeyondTheQuotaAreForgottenInTime(Algorithm algorithm) {
		Policy policy = policy(algorithm, "10/m");
		for (int i = 0; i < 50; i++) {
			this.limiter.charge(request(policy, 10));
		}
		Duration wait = this.limiter.peek(request(policy, 1)).retryAfter().orElseThrow();
		assertThat(wait).isLessThan(Duration.ofMinutes(2));
		assertAllowedAfter(wait, policy, 1);
		this.clock.advance(Duration.ofMinutes(3));
		assertThat(remaining(policy, ALICE)).containsExactly(10L);
	}

	@EachAlgorithm
	void everyPolicyAndIdentifierIsChargedAndResetByItself(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/m");
		Policy other = policy("other", algorithm, "5/m");
		this.limiter
			.charge(RateLimitRequest.of(Charge.of(policy, ALICE, ADDRESS).withCost(2), Charge.of(other, ALICE)));
		assertThat(remaining(policy, ALICE)).containsExactly(3L);
		this.limiter.reset(policy, ALICE);
		assertThat(remaining(policy, ALICE)).containsExactly(5L);
		assertThat(remaining(policy, ADDRESS)).containsExactly(3L);
		assertThat(remaining(other, ALICE)).containsExactly(4L);
	}

	@EachAlgorithm
	void refundGivesBackButNeverMoreThanWasUsed(Algorithm algorithm) {
		Policy policy = policy(algorithm, "10/m", "30/h");
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

	@EachAlgorithm
	void refundedQuotaCanBeUsedAtOnce(Algorithm algorithm) {
		Policy policy = policy(algorithm, "7/s");
		for (int cost = 1; cost <= 7; cost++) {
			this.limiter.reset(policy, ALICE);
			this.limiter.tryAcquire(policy, ALICE, 7);
			this.limiter.refund(request(policy, cost));
			assertThat(remaining(policy, ALICE)).containsExactly((long) cost);
			assertThat(this.limiter.tryAcquire(policy, ALICE, cost).allowed()).isTrue();
			assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
		}
	}

	@EachAlgorithm
	void changedQuotaTakesEffectOnTheNextRequest(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/m");
		this.limiter.tryAcquire(policy, ALICE, 4);
		assertThat(remaining(withLimit(policy, "2/m"), ALICE)).containsExactly(0L);
		assertThat(this.limiter.tryAcquire(withLimit(policy, "4/m"), ALICE).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(withLimit(policy, "50/m"), ALICE, 4).allowed()).isTrue();
		assertThat(remaining(policy, ALICE)).containsExactly(0L);
	}

	@EachAlgorithm
	void changedWindowOrAlgorithmStartsAfresh(Algorithm algorithm) {
		this.limiter.tryAcquire(policy(algorithm, "5/m"), ALICE, 5);
		assertThat(remaining(policy(algorithm, "5/2m"), ALICE)).containsExactly(5L);
		this.store.supportedAlgorithms()
			.filter((other) -> !other.equals(algorithm))
			.forEach((other) -> assertThat(remaining(policy(other, "5/m"), ALICE)).containsExactly(5L));
	}

}
