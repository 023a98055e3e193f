package io.github.ratelimit.algorithm;

import java.time.Duration;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.ManualClock;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class FixedWindowTests {

	private static final Identifier ALICE = Identifier.user("alice");

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:50Z");

	private final RateLimiter limiter = new MemoryRateLimiter(this.clock);

	private final Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("5/m"), Limit.parse("5/h"));

	@Test
	void windowsEndAtFullMinutesAndHours() {
		assertThat(this.limiter.tryAcquire(this.policy, ALICE).statuses()).extracting(LimitStatus::resetAfter)
			.containsExactly(Duration.ofSeconds(10), Duration.ofSeconds(59 * 60 + 10));
	}

	@Test
	void windowThatWasEmptiedIsAlignedAgainWhenTheClockIsSetBack() {
		this.limiter.tryAcquire(this.policy, ALICE);
		this.clock.set("2026-03-01T12:01:10Z");
		this.limiter.tryAcquire(this.policy, ALICE);
		this.limiter.refund(RateLimitRequest.of(this.policy, ALICE));
		this.clock.set("2026-03-01T12:00:55Z");
		LimitStatus minute = this.limiter.tryAcquire(this.policy, ALICE).statuses().get(0);
		assertThat(minute.remaining()).isEqualTo(4);
		assertThat(minute.resetAfter()).isEqualTo(Duration.ofSeconds(5));
	}

}
