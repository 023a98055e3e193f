package io.github.ratelimit.test;

import java.time.Duration;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Who is allowed, what is used, and what is said of it.
 */
public abstract class DecisionContract extends RateLimiterContract {

	@ParameterizedTest
	@MethodSource("algorithms")
	void quotaIsAllowedAndNoMore(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("3/m"));
		for (int remaining = 2; remaining >= 0; remaining--) {
			Decision decision = this.limiter.tryAcquire(policy, ALICE);
			assertThat(decision.allowed()).isTrue();
			assertThat(decision.retryAfter()).contains(Duration.ZERO);
			assertThat(decision.violated()).isEmpty();
			assertThat(decision.statuses()).singleElement()
				.extracting(LimitStatus::remaining)
				.isEqualTo((long) remaining);
		}
		Decision decision = this.limiter.tryAcquire(policy, ALICE);
		assertThat(decision.allowed()).isFalse();
		assertThat(decision.violated()).isEqualTo(decision.statuses());
		assertThat(decision.statuses()).singleElement().extracting(LimitStatus::remaining).isEqualTo(0L);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void eachPolicyIdentifierAndLimitHasItsStatus(Algorithm algorithm) {
		Policy api = Policy.of("api", algorithm, Limit.parse("100/h"), Limit.parse("10/s"));
		Policy total = Policy.of("total", algorithm, Limit.parse("7/d"));
		Decision decision = this.limiter.tryAcquire(
				RateLimitRequest.of(Charge.of(api, ADDRESS, ALICE).withCost(2), Charge.of(total, Identifier.GLOBAL)));
		assertThat(decision.statuses())
			.extracting(LimitStatus::policy, LimitStatus::identifier, LimitStatus::limit, LimitStatus::remaining)
			.containsExactly(tuple(api, ADDRESS, "10/s", 8), tuple(api, ADDRESS, "100/h", 98),
					tuple(api, ALICE, "10/s", 8), tuple(api, ALICE, "100/h", 98),
					tuple(total, Identifier.GLOBAL, "7/d", 6));
	}

	private static Tuple tuple(Policy policy, Identifier identifier, String limit, long remaining) {
		return Tuple.tuple(policy, identifier, Limit.parse(limit), remaining);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void deniedRequestUsesNothingOfAnyPolicyIdentifierOrLimit(Algorithm algorithm) {
		Policy wide = Policy.of("wide", algorithm, Limit.parse("100/h"));
		Policy narrow = Policy.of("narrow", algorithm, Limit.parse("1/m"), Limit.parse("50/h"));
		this.limiter.tryAcquire(narrow, ALICE);
		RateLimitRequest request = RateLimitRequest.of(Charge.of(wide, ADDRESS), Charge.of(narrow, ADDRESS, ALICE));
		Decision before = this.limiter.peek(request);
		Decision denied = this.limiter.tryAcquire(request);
		assertThat(denied.allowed()).isFalse();
		assertThat(denied.violated()).singleElement().satisfies((status) -> {
			assertThat(status.policy()).isEqualTo(narrow);
			assertThat(status.identifier()).isEqualTo(ALICE);
			assertThat(status.limit()).isEqualTo(Limit.parse("1/m"));
		});
		assertThat(denied).isEqualTo(before).isEqualTo(this.limiter.peek(request));
		assertThat(remaining(wide, ADDRESS)).containsExactly(100L);
		assertThat(remaining(narrow, ADDRESS)).containsExactly(1L, 50L);
		assertThat(remaining(narrow, ALICE)).containsExactly(0L, 49L);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void costAboveTheQuotaIsDeniedWithoutATrace(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("3/m"), Limit.parse("100/h"));
		Decision decision = this.limiter.tryAcquire(policy, ALICE, 4);
		assertThat(decision.allowed()).isFalse();
		assertThat(decision.retryAfter()).isEmpty();
		assertThat(decision.violated()).singleElement().satisfies((status) -> {
			assertThat(status.limit()).isEqualTo(Limit.parse("3/m"));
			assertThat(status.retryAfter()).isNull();
		});
		assertThat(remaining(policy, ALICE)).containsExactly(3L, 100L);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void largestCostsDoNotOverflow(Algorithm algorithm) {
		long quota = algorithm.maxQuota();
		Policy policy = Policy.of("api", algorithm, new Limit(quota, Duration.ofMinutes(1)));
		for (int window = 0; window < 6; window++) {
			assertThat(this.limiter.tryAcquire(policy, ALICE, Long.MAX_VALUE).allowed()).isFalse();
			assertThat(this.limiter.tryAcquire(policy, ALICE, quota - 1).allowed()).isTrue();
			assertThat(this.limiter.tryAcquire(policy, ALICE, quota).allowed()).isFalse();
			assertThat(this.limiter.tryAcquire(policy, ALICE, 1).allowed()).isTrue();
			assertThat(this.limiter.tryAcquire(policy, ALICE, 1).allowed()).isFalse();
			this.clock.advance(Duration.ofMinutes(3));
		}
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void quotaOfZeroDeniesEverything(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("0/m"));
		Decision decision = this.limiter.tryAcquire(policy, ALICE);
		assertThat(decision.allowed()).isFalse();
		assertThat(decision.retryAfter()).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void costOfZeroLooksWithoutTouching(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("2/m"));
		this.limiter.tryAcquire(policy, ALICE, 2);
		Decision decision = this.limiter.tryAcquire(policy, ALICE, 0);
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.statuses()).singleElement().extracting(LimitStatus::remaining).isEqualTo(0L);
		assertThat(this.limiter.tryAcquire(withLimit(policy, "1/m"), ALICE, 0).allowed()).isTrue();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void negativeCostIsRefused(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("2/m"));
		assertThatIllegalArgumentException().isThrownBy(() -> this.limiter.tryAcquire(policy, ALICE, -1))
			.withMessage("Invalid cost (-1): must not be negative.");
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void peekTellsTheDecisionAndUsesNothing(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("3/m"));
		this.limiter.tryAcquire(policy, ALICE, 2);
		for (int i = 0; i < 3; i++) {
			assertThat(this.limiter.peek(request(policy, 1)).allowed()).isTrue();
			assertThat(this.limiter.peek(request(policy, 2)).allowed()).isFalse();
			assertThat(remaining(policy, ALICE)).containsExactly(1L);
		}
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void severalRequestsOfCostOneEqualOneOfTheirSum(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("9/m"), Limit.parse("20/h"));
		for (int i = 0; i < 7; i++) {
			this.limiter.tryAcquire(policy, ALICE);
		}
		this.limiter.tryAcquire(policy, ADDRESS, 7);
		for (int second = 0; second < 70; second++) {
			assertThat(this.limiter.peek(request(policy, 3)).retryAfter())
				.isEqualTo(this.limiter.peek(RateLimitRequest.of(Charge.of(policy, ADDRESS).withCost(3))).retryAfter());
			assertThat(remaining(policy, ALICE)).isEqualTo(remaining(policy, ADDRESS));
			this.clock.advance(Duration.ofSeconds(1));
		}
	}

}
