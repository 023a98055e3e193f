package io.github.ratelimit.test;

import java.time.Duration;
import java.util.List;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clocks that jump.
 */
public abstract class ClockContract extends TimeRangeContract {

	@ParameterizedTest
	@MethodSource("algorithms")
	protected void clockThatJumpedAheadLocksForAWindowAtMost(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		for (Duration jump : List.of(Duration.ofHours(1), Duration.ofSeconds(61), Duration.ofSeconds(30))) {
			this.clock.advance(jump);
			while (this.limiter.tryAcquire(policy, ALICE).allowed()) {
				this.clock.advance(Duration.ofNanos(1000));
			}
			this.clock.advance(jump.negated());
			Decision denied = this.limiter.tryAcquire(policy, ALICE);
			assertThat(denied.allowed()).as("after %s ahead and back", jump).isFalse();
			assertThat(denied.retryAfter().orElseThrow())
				.isLessThanOrEqualTo(longest(Duration.ofMinutes(1), timeAfterAllQuotaIsUsed(policy)));
			this.clock.advance(denied.retryAfter().orElseThrow());
			assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
			this.clock.advance(Duration.ofMinutes(2));
		}
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	protected void clockThatIsSetBackMintsNoQuota(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		this.clock.set("2026-03-01T12:01:00Z");
		this.limiter.tryAcquire(policy, ALICE, 5);
		for (int step = 0; step < 10; step++) {
			this.clock.advance(Duration.ofMillis(-7));
			assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
		}
		this.clock.set("2026-03-01T12:01:00.001Z");
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "1970-01-01T00:00:00Z", "2255-06-05T23:47:34.740991Z" })
	protected void firstAndLastTimeAreDecidedAsAnyOther(String time) {
		this.clock.set(time);
		for (Algorithm algorithm : supportedAlgorithms().toList()) {
			Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
			this.limiter.reset(policy, ALICE);
			assertThat(this.limiter.tryAcquire(policy, ALICE, 5).allowed()).as(algorithm.name()).isTrue();
			assertThat(this.limiter.tryAcquire(policy, ALICE).retryAfter().orElseThrow()).as(algorithm.name())
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

	private static Duration longest(Duration one, Duration other) {
		return (one.compareTo(other) > 0) ? one : other;
	}

}
