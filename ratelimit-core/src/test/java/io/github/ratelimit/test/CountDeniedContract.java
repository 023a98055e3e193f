package io.github.ratelimit.test;

import java.time.Duration;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Policies that count denied requests.
 */
public abstract class CountDeniedContract extends RateLimiterContract {

	@ParameterizedTest
	@MethodSource("algorithms")
	void deniedRequestsCountWhereThePolicySaysSo(Algorithm algorithm) {
		Policy strict = Policy.of("strict", algorithm, Limit.parse("5/m")).withCountDenied(true);
		Policy lenient = Policy.of("lenient", algorithm, Limit.parse("5/m"));
		Policy full = Policy.of("full", algorithm, Limit.parse("1/m"));
		this.limiter.tryAcquire(full, ALICE);
		RateLimitRequest request = RateLimitRequest.of(Charge.of(strict, ALICE), Charge.of(lenient, ALICE),
				Charge.of(full, ALICE));
		assertThat(this.limiter.tryAcquire(request).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(request).allowed()).isFalse();
		assertThat(remaining(strict, ALICE)).containsExactly(3L);
		assertThat(remaining(lenient, ALICE)).containsExactly(5L);
		assertThat(remaining(full, ALICE)).containsExactly(0L);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void retryAfterOfACountedDenialIsExact(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"), Limit.parse("7/10m")).withCountDenied(true);
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

	@ParameterizedTest
	@MethodSource("algorithms")
	void limitThatIsFullOnlyAfterwardsIsNotViolated(Algorithm algorithm) {
		Policy narrow = Policy.of("narrow", algorithm, Limit.parse("1/m")).withCountDenied(true);
		Policy wide = Policy.of("wide", algorithm, Limit.parse("2/m")).withCountDenied(true);
		RateLimitRequest request = RateLimitRequest.of(Charge.of(narrow, ALICE), Charge.of(wide, ALICE));
		assertThat(this.limiter.tryAcquire(request).violated()).isEmpty();
		Decision denied = this.limiter.tryAcquire(request);
		assertThat(denied.allowed()).isFalse();
		assertThat(denied.violated()).extracting(LimitStatus::policy).containsExactly(narrow);
		assertThat(denied.statuses()).noneMatch((status) -> Duration.ZERO.equals(status.retryAfter()));
		assertThat(this.limiter.tryAcquire(request).violated()).isEqualTo(this.limiter.peek(request).statuses());
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void requestThatCanNeverBeAllowedDoesNotCount(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m")).withCountDenied(true);
		assertThat(this.limiter.tryAcquire(policy, ALICE, 6).allowed()).isFalse();
		assertThat(remaining(policy, ALICE)).containsExactly(5L);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void largestCostsThatAreDeniedAndCountDoNotOverflow(Algorithm algorithm) {
		long quota = algorithm.maxQuota();
		Policy policy = Policy.of("api", algorithm, new Limit(quota, Duration.ofMinutes(1))).withCountDenied(true);
		assertThat(this.limiter.tryAcquire(policy, ALICE, quota).allowed()).isTrue();
		for (int request = 0; request < 20; request++) {
			assertThat(this.limiter.tryAcquire(policy, ALICE, quota).allowed()).isFalse();
			assertThat(remaining(policy, ALICE)).containsExactly(0L);
		}
	}

}
