package io.github.ratelimit.algorithm;

import java.time.Duration;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.SlidingWindowCounter.Rounding;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.ManualClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class SlidingWindowCounterTests {

	private static final Identifier ALICE = Identifier.user("alice");

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:00.900Z");

	private final RateLimiter limiter = new MemoryRateLimiter(this.clock);

	@Test
	void clockThatIsSetBackOverAnEdgeMintsNoQuota() {
		Policy policy = Policy.of("api", new SlidingWindowCounter(), Limit.parse("10/s"));
		this.limiter.tryAcquire(policy, ALICE, 10);
		this.clock.set("2026-03-01T12:00:01.010Z");
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
		this.clock.set("2026-03-01T12:00:01.100Z");
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
		this.clock.set("2026-03-01T12:00:00.999Z");
		assertThat(this.limiter.tryAcquire(policy, ALICE, 10).allowed()).isFalse();
		this.clock.set("2026-03-01T12:00:01Z");
		assertThat(this.limiter.tryAcquire(policy, ALICE, 10).allowed()).isFalse();
	}

	@Test
	@Timeout(value = 10, threadMode = ThreadMode.SEPARATE_THREAD)
	void hugeQuotasAreDecidedInAFewSteps() {
		Policy policy = Policy.of("api", new SlidingWindowCounter(1, Rounding.DOWN),
				Limit.parse("100000000000000/30d"));
		this.limiter.tryAcquire(policy, ALICE, 10);
		this.clock.advance(Duration.ofDays(30));
		for (int i = 0; i < 100; i++) {
			assertThat(this.limiter.tryAcquire(policy, ALICE, 990_000_000_000L).allowed()).isTrue();
		}
		Decision denied = this.limiter.tryAcquire(policy, ALICE, 1_100_000_000_000L);
		this.clock.advance(denied.retryAfter().orElseThrow().minusNanos(1000));
		assertThat(this.limiter.tryAcquire(policy, ALICE, 1_100_000_000_000L).allowed()).isFalse();
		this.clock.advance(Duration.ofNanos(1000));
		assertThat(this.limiter.tryAcquire(policy, ALICE, 1_100_000_000_000L).allowed()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(doubles = { -0.1, 1.1, Double.NaN })
	void weightOutOfRangeIsRefused(double weight) {
		assertThatIllegalArgumentException().isThrownBy(() -> new SlidingWindowCounter(weight, Rounding.NONE))
			.withMessage("Invalid previous weight (" + weight + "): must be between 0 and 1.");
	}

}
