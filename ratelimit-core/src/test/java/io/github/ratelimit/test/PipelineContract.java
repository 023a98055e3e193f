package io.github.ratelimit.test;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a store that uses plain commands promises instead of {@link ClockContract}, and
 * what it does otherwise.
 */
public abstract class PipelineContract extends TimeRangeContract {

	private static final Duration WINDOW = Duration.ofMinutes(1);

	/** The algorithms that plain commands can express. */
	public static Stream<Algorithm> algorithms() {
		return Stream.of(new FixedWindow(), new FirstRequestWindow(), new SlidingWindow(), new SlidingWindowCounter());
	}

	@Override
	protected Stream<Algorithm> supportedAlgorithms() {
		return algorithms();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void clockThatJumpedAheadLocksForAWindowAtMost(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		for (Duration jump : List.of(Duration.ofHours(1), Duration.ofSeconds(61), Duration.ofSeconds(59),
				Duration.ofSeconds(30), Duration.ofMillis(400))) {
			this.clock.advance(jump);
			this.limiter.tryAcquire(policy, ALICE, 5);
			this.clock.advance(jump.negated());
			Decision decision = this.limiter.tryAcquire(policy, ALICE, 5);
			if (!decision.allowed()) {
				Duration wait = decision.retryAfter().orElseThrow();
				assertThat(wait).as("after %s ahead and back", jump).isLessThanOrEqualTo(longestWait(algorithm));
				this.clock.advance(wait);
				assertThat(this.limiter.tryAcquire(policy, ALICE, 5).allowed()).as("after %s and %s", jump, wait)
					.isTrue();
			}
			this.clock.advance(Duration.ofHours(2));
		}
	}

	/** With sub-windows, as long as a window and the rest of the present one. */
	private static Duration longestWait(Algorithm algorithm) {
		if (algorithm instanceof SlidingWindowCounter) {
			return WINDOW.multipliedBy(2);
		}
		return (algorithm instanceof SlidingWindow) ? WINDOW.plusSeconds(1) : WINDOW;
	}

	/** Where windows are aligned, only within one. */
	@ParameterizedTest
	@MethodSource("algorithms")
	void clockThatIsSetBackALittleMintsNoQuota(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
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
	@ParameterizedTest
	@MethodSource("algorithms")
	void clockThatIsSetBackByWindowsMintsOneQuota(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		this.limiter.tryAcquire(policy, ALICE, 5);
		this.clock.advance(Duration.ofHours(-1));
		assertThat(this.limiter.tryAcquire(policy, ALICE, 5).allowed())
			.isEqualTo(!(algorithm instanceof FirstRequestWindow));
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

	/** Those that only peek do not move what is ahead. */
	@ParameterizedTest
	@MethodSource("algorithms")
	void unusedQuotaIsKeptWhenTheClockIsSetBack(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		this.clock.advance(Duration.ofSeconds(20));
		this.limiter.peek(request(policy, 5));
		this.clock.advance(Duration.ofSeconds(-20));
		assertThat(this.limiter.tryAcquire(policy, ALICE, 5).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

	/** A denied request may have begun a window, but has used nothing. */
	@ParameterizedTest
	@MethodSource("algorithms")
	void deniedRequestUsesNothing(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		Policy full = Policy.of("full", algorithm, Limit.parse("1/m"));
		this.limiter.tryAcquire(full, ALICE);
		RateLimitRequest request = RateLimitRequest.of(Charge.of(policy, ALICE, ADDRESS).withCost(3),
				Charge.of(full, ALICE));
		for (int i = 0; i < 5; i++) {
			assertThat(this.limiter.tryAcquire(request).allowed()).isFalse();
		}
		assertThat(remaining(policy, ALICE)).containsExactly(5L);
		assertThat(this.limiter.tryAcquire(policy, ADDRESS, 5).allowed()).isTrue();
	}

}
