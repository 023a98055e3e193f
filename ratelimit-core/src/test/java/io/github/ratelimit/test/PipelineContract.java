package io.github.ratelimit.test;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a store that uses plain commands promises instead of {@link ClockContract}, and
 * what it does otherwise.
 */
public abstract class PipelineContract extends RateLimiterContract {

	public static Stream<Algorithm> algorithms() {
		return Stream.of(new FixedWindow(), new FirstRequestWindow(), new SlidingWindow(), new SlidingWindowCounter());
	}

	@EachAlgorithm
	void clockThatJumpedAheadLocksForAWindowAtMost(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/m");
		// With sub-windows, as long as a window and the rest of the present one.
		Duration longest = Duration.ofSeconds(
				(algorithm instanceof SlidingWindowCounter) ? 120 : (algorithm instanceof SlidingWindow) ? 61 : 60);
		for (Duration jump : List.of(Duration.ofHours(1), Duration.ofSeconds(61), Duration.ofSeconds(59),
				Duration.ofSeconds(30), Duration.ofMillis(400))) {
			this.clock.advance(jump);
			this.limiter.tryAcquire(policy, ALICE, 5);
			this.clock.advance(jump.negated());
			Decision decision = this.limiter.tryAcquire(policy, ALICE, 5);
			if (!decision.allowed()) {
				Duration wait = decision.retryAfter().orElseThrow();
				assertThat(wait).as("after %s ahead and back", jump).isLessThanOrEqualTo(longest);
				this.clock.advance(wait);
				assertThat(this.limiter.tryAcquire(policy, ALICE, 5).allowed()).as("after %s and %s", jump, wait)
					.isTrue();
			}
			this.clock.advance(Duration.ofHours(2));
		}
	}

	/** Where windows are aligned, only within one. */
	@EachAlgorithm
	void clockThatIsSetBackALittleMintsNoQuota(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/m");
		this.clock.set((algorithm instanceof FixedWindow) ? "2026-03-01T12:01:00.1Z" : "2026-03-01T12:01:00Z");
		this.limiter.tryAcquire(policy, ALICE, 5);
		for (int step = 0; step < 10; step++) {
			this.clock.advance(Duration.ofMillis(-7));
			assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
		}
		this.clock.set("2026-03-01T12:01:00.101Z");
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

	/** None at all where the window is not part of the Redis key. */
	@EachAlgorithm
	void clockThatIsSetBackByWindowsMintsOneQuota(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/m");
		this.limiter.tryAcquire(policy, ALICE, 5);
		this.clock.advance(Duration.ofHours(-1));
		assertThat(this.limiter.tryAcquire(policy, ALICE, 5).allowed())
			.isEqualTo(!(algorithm instanceof FirstRequestWindow));
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

	/** Those that only peek do not move what is ahead. */
	@EachAlgorithm
	void unusedQuotaIsKeptWhenTheClockIsSetBack(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/m");
		this.clock.advance(Duration.ofSeconds(20));
		this.limiter.peek(request(policy, 5));
		this.clock.advance(Duration.ofSeconds(-20));
		assertThat(this.limiter.tryAcquire(policy, ALICE, 5).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

}
