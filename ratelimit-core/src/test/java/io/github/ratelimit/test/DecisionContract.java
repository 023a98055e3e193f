package io.github.ratelimit.test;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;

/**
 * Who is allowed, what is used, what is said of it, and when there is quota again;
 * whether denied requests count or not.
 */
public abstract class DecisionContract extends RateLimiterContract {

	@EachAlgorithm
	void quotaIsAllowedAndNoMore(Algorithm algorithm) {
		Policy policy = policy(algorithm, "3/m");
		for (long remaining = 2; remaining >= 0; remaining--) {
			Decision decision = this.limiter.tryAcquire(policy, ALICE);
			assertThat(decision.allowed()).isTrue();
			assertThat(decision.retryAfter()).contains(Duration.ZERO);
			assertThat(decision.violated()).isEmpty();
			assertThat(decision.statuses()).extracting(LimitStatus::remaining).containsExactly(remaining);
		}
		Decision denied = this.limiter.tryAcquire(policy, ALICE);
		assertThat(denied.allowed()).isFalse();
		assertThat(denied.violated()).isEqualTo(denied.statuses());
		assertThat(denied.statuses()).extracting(LimitStatus::remaining).containsExactly(0L);
	}

	@EachAlgorithm
	void eachPolicyIdentifierAndLimitHasItsStatus(Algorithm algorithm) {
		Policy api = policy(algorithm, "100/h", "10/s");
		Policy total = policy("total", algorithm, "7/d");
		Decision decision = this.limiter.tryAcquire(
				RateLimitRequest.of(Charge.of(api, ADDRESS, ALICE).withCost(2), Charge.of(total, Identifier.GLOBAL)));
		assertThat(decision.statuses())
			.extracting(LimitStatus::policy, LimitStatus::identifier, (status) -> status.limit().toString(),
					LimitStatus::remaining)
			.containsExactly(tuple(api, ADDRESS, "10/s", 8L), tuple(api, ADDRESS, "100/h", 98L),
					tuple(api, ALICE, "10/s", 8L), tuple(api, ALICE, "100/h", 98L),
					tuple(total, Identifier.GLOBAL, "7/d", 6L));
	}

	@EachAlgorithm
	void deniedRequestUsesNothingOfAnyPolicyIdentifierOrLimit(Algorithm algorithm) {
		Policy wide = policy("wide", algorithm, "100/h");
		Policy narrow = policy("narrow", algorithm, "1/m", "50/h");
		this.limiter.tryAcquire(narrow, ALICE);
		RateLimitRequest request = RateLimitRequest.of(Charge.of(wide, ADDRESS), Charge.of(narrow, ADDRESS, ALICE));
		Decision before = this.limiter.peek(request);
		Decision denied = this.limiter.tryAcquire(request);
		assertThat(denied.allowed()).isFalse();
		assertThat(denied.violated()).extracting(LimitStatus::policy, LimitStatus::identifier, LimitStatus::limit)
			.containsExactly(tuple(narrow, ALICE, Limit.parse("1/m")));
		assertThat(denied).isEqualTo(before).isEqualTo(this.limiter.peek(request));
		assertThat(remaining(wide, ADDRESS)).containsExactly(100L);
		assertThat(remaining(narrow, ADDRESS)).containsExactly(1L, 50L);
		assertThat(remaining(narrow, ALICE)).containsExactly(0L, 49L);
	}

	@EachAlgorithm
	void costAboveTheQuotaIsDeniedWithoutATrace(Algorithm algorithm) {
		for (Policy policy : List.of(policy(algorithm, "3/m", "100/h"), policy(algorithm, "0/m", "100/h"))) {
			long quota = policy.limits().get(0).quota();
			for (boolean countDenied : List.of(false, true)) {
				Decision decision = this.limiter.tryAcquire(policy.withCountDenied(countDenied), ALICE, quota + 1);
				assertThat(decision.allowed()).isFalse();
				assertThat(decision.retryAfter()).isEmpty();
				assertThat(decision.violated()).extracting(LimitStatus::limit, LimitStatus::retryAfter)
					.containsExactly(tuple(policy.limits().get(0), null));
				assertThat(remaining(policy, ALICE)).containsExactly(quota, 100L);
			}
		}
	}

	@EachAlgorithm
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
		assertThat(this.limiter.tryAcquire(policy, ALICE, quota).allowed()).isTrue();
		for (int request = 0; request < 20; request++) {
			assertThat(this.limiter.tryAcquire(policy.withCountDenied(true), ALICE, quota).allowed()).isFalse();
			assertThat(remaining(policy, ALICE)).containsExactly(0L);
		}
	}

	@EachAlgorithm
	void costOfZeroLooksWithoutTouching(Algorithm algorithm) {
		Policy policy = policy(algorithm, "2/m");
		this.limiter.tryAcquire(policy, ALICE, 2);
		Decision decision = this.limiter.tryAcquire(policy, ALICE, 0);
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.statuses()).extracting(LimitStatus::remaining).containsExactly(0L);
		assertThat(this.limiter.tryAcquire(withLimit(policy, "1/m"), ALICE, 0).allowed()).isTrue();
	}

	@EachAlgorithm
	void severalRequestsOfCostOneEqualOneOfTheirSum(Algorithm algorithm) {
		Policy policy = policy(algorithm, "9/m", "20/h");
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

	@EachAlgorithm
	void retryAfterIsEnoughAndAMicrosecondLessIsNot(Algorithm algorithm) {
		Policy policy = policy(algorithm, "10/m", "13/10m");
		for (int cost : new int[] { 1, 3, 2, 1, 3 }) {
			this.limiter.tryAcquire(policy, ALICE, cost);
			this.clock.advance(Duration.ofNanos(3_333_333_000L));
		}
		for (int cost : new int[] { 3, 5, 10, 1, 9, 10, 2 }) {
			while (this.limiter.tryAcquire(policy, ALICE, cost).allowed()) {
				this.clock.advance(Duration.ofMillis(1));
			}
			Duration retryAfter = this.limiter.peek(request(policy, cost)).retryAfter().orElseThrow();
			assertThat(retryAfter).isPositive();
			this.clock.advance(retryAfter.minusNanos(1000));
			assertThat(this.limiter.tryAcquire(policy, ALICE, cost).retryAfter()).contains(Duration.ofNanos(1000));
			assertAllowedAfter(Duration.ofNanos(1000), policy, cost);
		}
	}

	@EachAlgorithm
	void resetAfterIsExactlyWhenQuotaArrives(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/m");
		assertThat(status(policy, ALICE).resetAfter()).isZero();
		this.limiter.tryAcquire(policy, ALICE, 2);
		this.clock.advance(Duration.ofSeconds(7));
		this.limiter.tryAcquire(policy, ALICE, 1);
		this.clock.advance(status(policy, ALICE).resetAfter().minusNanos(1000));
		assertThat(remaining(policy, ALICE)).containsExactly(2L);
		this.clock.advance(Duration.ofNanos(1000));
		assertThat(status(policy, ALICE).remaining()).isGreaterThan(2);
	}

	@EachAlgorithm
	void allQuotaIsBackAfterALongPause(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/s", "9/h");
		this.limiter.tryAcquire(policy, ALICE, 5);
		this.clock.advance(Duration.ofDays(400));
		Decision decision = this.limiter.peek(request(policy, 5));
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.statuses()).extracting(LimitStatus::remaining, LimitStatus::resetAfter)
			.containsExactly(tuple(5L, Duration.ZERO), tuple(9L, Duration.ZERO));
	}

	@EachAlgorithm
	void deniedRequestsCountWhereThePolicySaysSo(Algorithm algorithm) {
		Policy strict = policy("strict", algorithm, "5/m").withCountDenied(true);
		Policy lenient = policy("lenient", algorithm, "5/m");
		Policy full = policy("full", algorithm, "1/m");
		this.limiter.tryAcquire(full, ALICE);
		RateLimitRequest request = RateLimitRequest.of(Charge.of(strict, ALICE), Charge.of(lenient, ALICE),
				Charge.of(full, ALICE));
		assertThat(this.limiter.tryAcquire(request).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(request).allowed()).isFalse();
		assertThat(remaining(strict, ALICE)).containsExactly(3L);
		assertThat(remaining(lenient, ALICE)).containsExactly(5L);
		assertThat(remaining(full, ALICE)).containsExactly(0L);
	}

	@EachAlgorithm
	void retryAfterOfACountedDenialIsExact(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/m", "7/10m").withCountDenied(true);
		for (int i = 0; i < 12; i++) {
			this.limiter.tryAcquire(policy, ALICE);
			this.clock.advance(Duration.ofSeconds(1));
		}
		Decision denied = this.limiter.tryAcquire(policy, ALICE, 2);
		assertThat(denied.allowed()).isFalse();
		this.clock.advance(denied.retryAfter().orElseThrow().minusNanos(1000));
		assertThat(this.limiter.peek(request(policy, 2)).allowed()).isFalse();
		this.clock.advance(Duration.ofNanos(1000));
		assertThat(this.limiter.tryAcquire(policy, ALICE, 2).allowed()).isTrue();
	}

	@EachAlgorithm
	void limitThatIsFullOnlyAfterwardsIsNotViolated(Algorithm algorithm) {
		Policy narrow = policy("narrow", algorithm, "1/m").withCountDenied(true);
		Policy wide = policy("wide", algorithm, "2/m").withCountDenied(true);
		RateLimitRequest request = RateLimitRequest.of(Charge.of(narrow, ALICE), Charge.of(wide, ALICE));
		assertThat(this.limiter.tryAcquire(request).violated()).isEmpty();
		Decision denied = this.limiter.tryAcquire(request);
		assertThat(denied.allowed()).isFalse();
		assertThat(denied.violated()).extracting(LimitStatus::policy).containsExactly(narrow);
		assertThat(denied.statuses()).noneMatch((status) -> Duration.ZERO.equals(status.retryAfter()));
		assertThat(this.limiter.tryAcquire(request).violated()).isEqualTo(this.limiter.peek(request).statuses());
	}

	/** Nobody is denied, or decided about by numbers that are not exact. */
	@ParameterizedTest
	@ValueSource(strings = { "1969-12-31T23:59:59.999999Z", "-1000000000-01-01T00:00:00Z",
			"2255-06-05T23:47:34.740992Z", "+1000000000-12-31T23:59:59.999999Z" })
	void timeThatNoStoreCanCalculateWithIsRefused(String time) {
		this.clock.set(time);
		this.store.supportedAlgorithms().forEach((algorithm) -> {
			RateLimitRequest request = request(policy(algorithm, "5/m"), 1);
			for (Consumer<RateLimitRequest> call : List.<Consumer<RateLimitRequest>>of(this.limiter::tryAcquire,
					this.limiter::peek, this.limiter::refund, this.limiter::charge)) {
				assertThatIllegalArgumentException().isThrownBy(() -> call.accept(request))
					.withMessageStartingWith("Invalid time (" + time + "): must be from 1970-01-01T00:00:00Z to 2255-");
			}
		});
	}

}
