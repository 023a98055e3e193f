package io.github.ratelimit.algorithm;

import java.util.Random;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.SlidingWindowCounter.Rounding;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.ManualClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

class SlidingWindowCounterTests {

	private static final Identifier ALICE = Identifier.user("alice");

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:00.900Z");

	private final RateLimiter limiter = new MemoryRateLimiter(this.clock);

	@Test
	void clockSetBackOverAnEdgeMintsNoQuota() {
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

	@ParameterizedTest
	@MethodSource("options")
	void everyDecisionIsThatOfExactArithmetic(SlidingWindowCounter algorithm) {
		Random random = new Random(1);
		for (int i = 0; i < 20_000; i++) {
			ExactEstimate estimate = ExactEstimate.random(algorithm, ExactEstimate.randomWindow(random), random);
			Meter meter = estimate.meter();
			assertThat(meter.remaining(0)).as("%s", estimate).isEqualTo(estimate.remaining());
			long cost = 1 + Math.min(estimate.quota() - 1, Math.max(0, estimate.remaining() - 2 + random.nextInt(5)));
			for (long each : new long[] { cost, 1 + random.nextLong(estimate.quota()) }) {
				long wait = meter.retryAfter(0, each);
				assertThat(wait).as("%s", estimate).isBetween(0L, 2 * estimate.window());
				assertThat(estimate.allows(each, wait)).as("%d after %d by %s", each, wait, estimate).isTrue();
				assertThat(wait > 0 && estimate.allows(each, wait - 1)).as("%d before %d by %s", each, wait, estimate)
					.isFalse();
			}
		}
	}

	static Stream<SlidingWindowCounter> options() {
		return DoubleStream.of(1, 0.999999, 0.7, 1.0 / 8, 0.3, 0.000001, 0)
			.boxed()
			.flatMap((weight) -> Stream.of(Rounding.values())
				.map((rounding) -> new SlidingWindowCounter(weight, rounding)));
	}

}
