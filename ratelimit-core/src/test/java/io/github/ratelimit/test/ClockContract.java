package io.github.ratelimit.test;

import java.time.Duration;
import java.util.List;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;

import static org.assertj.core.api.Assertions.assertThat;

public abstract class ClockContract extends RateLimiterContract {

	@EachAlgorithm
	void clockThatJumpedAheadLocksForAWindowAtMost(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/m");
		for (Duration jump : List.of(Duration.ofHours(1), Duration.ofSeconds(61), Duration.ofSeconds(30))) {
			this.clock.advance(jump);
			while (this.limiter.tryAcquire(policy, ALICE).allowed()) {
				this.clock.advance(Duration.ofNanos(1000));
			}
			this.clock.advance(jump.negated());
			Decision denied = this.limiter.tryAcquire(policy, ALICE);
			assertThat(denied.allowed()).as("after %s ahead and back", jump).isFalse();
			Duration wait = denied.retryAfter().orElseThrow();
			assertThat(List.of(Duration.ofMinutes(1), timeAfterAllQuotaIsUsed(policy)))
				.anySatisfy((longest) -> assertThat(wait).isLessThanOrEqualTo(longest));
			this.clock.advance(wait);
			assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
			this.clock.advance(Duration.ofMinutes(2));
		}
	}

	@EachAlgorithm
	void clockThatIsSetBackMintsNoQuota(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/m");
		this.clock.set("2026-03-01T12:01:00Z");
		this.limiter.tryAcquire(policy, ALICE, 5);
		for (int step = 0; step < 10; step++) {
			this.clock.advance(Duration.ofMillis(-7));
			assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
		}
		this.clock.set("2026-03-01T12:01:00.001Z");
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

	@EachAlgorithm
	void firstAndLastTimeAreDecidedAsAnyOther(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/m");
		for (String time : List.of("1970-01-01T00:00:00Z", "2255-06-05T23:47:34.740991Z")) {
			this.clock.set(time);
			this.limiter.reset(policy, ALICE);
			assertThat(this.limiter.tryAcquire(policy, ALICE, 5).allowed()).as(time).isTrue();
			assertThat(this.limiter.tryAcquire(policy, ALICE).retryAfter().orElseThrow()).as(time)
				.isBetween(Duration.ofNanos(1000), Duration.ofMinutes(2));
		}
	}

	private Duration timeAfterAllQuotaIsUsed(Policy policy) {
		this.limiter.reset(policy, ADDRESS);
		while (this.limiter.tryAcquire(policy, ADDRESS).allowed()) {
			// until all is used
		}
		return this.limiter.peek(RateLimitRequest.of(policy, ADDRESS)).retryAfter().orElseThrow();
	}

}
