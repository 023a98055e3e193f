package io.github.ratelimit.test;

import java.time.Duration;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * When there is quota again.
 */
public abstract class WaitContract extends RateLimiterContract {

	@ParameterizedTest
	@MethodSource("algorithms")
	void retryAfterIsEnoughAndAMicrosecondLessIsNot(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("10/m"), Limit.parse("13/10m"));
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
			Decision tooEarly = this.limiter.tryAcquire(policy, ALICE, cost);
			assertThat(tooEarly.allowed()).as("cost %d, a microsecond before %s", cost, retryAfter).isFalse();
			assertThat(tooEarly.retryAfter()).contains(Duration.ofNanos(1000));
			this.clock.advance(Duration.ofNanos(1000));
			assertThat(this.limiter.tryAcquire(policy, ALICE, cost).allowed()).as("cost %d after %s", cost, retryAfter)
				.isTrue();
		}
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void resetAfterIsExactlyWhenQuotaArrives(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		assertThat(status(policy, ALICE).resetAfter()).isZero();
		this.limiter.tryAcquire(policy, ALICE, 2);
		this.clock.advance(Duration.ofSeconds(7));
		this.limiter.tryAcquire(policy, ALICE, 1);
		Duration resetAfter = status(policy, ALICE).resetAfter();
		this.clock.advance(resetAfter.minusNanos(1000));
		assertThat(remaining(policy, ALICE)).containsExactly(2L);
		this.clock.advance(Duration.ofNanos(1000));
		assertThat(status(policy, ALICE).remaining()).isGreaterThan(2);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void allQuotaIsBackAfterALongPause(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/s"), Limit.parse("9/h"));
		this.limiter.tryAcquire(policy, ALICE, 5);
		this.clock.advance(Duration.ofDays(400));
		Decision decision = this.limiter.peek(request(policy, 5));
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.statuses()).extracting(LimitStatus::remaining).containsExactly(5L, 9L);
		assertThat(decision.statuses()).extracting(LimitStatus::resetAfter).containsOnly(Duration.ZERO);
	}

}
