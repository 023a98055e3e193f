package io.github.ratelimit.memory;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Meter;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.WindowCount;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.test.ManualClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How much the store in memory keeps.
 */
class MemorySweepTests {

	private static final Identifier ALICE = Identifier.user("alice");

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:00Z");

	private final MemoryRateLimiter limiter = new MemoryRateLimiter(this.clock);

	@ParameterizedTest
	@MethodSource("io.github.ratelimit.test.RateLimiterContract#algorithms")
	void memoryFollowsTheIdentifiersThatAreActive(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/s"));
		Policy daily = Policy.of("daily", algorithm, Limit.parse("5/s"), Limit.parse("7/d"));
		this.limiter.tryAcquire(daily, ALICE, 4);
		int most = 0;
		for (int i = 0; i < 100_000; i++) {
			this.limiter.tryAcquire(policy, Identifier.user("user" + i));
			most = Math.max(most, this.limiter.size());
			this.clock.advance(Duration.ofMillis(1));
		}
		// Up to twice those that are active: for a second, two where the window before
		// counts, or a fifth until a bucket is empty.
		assertThat(most).isBetween(200, 4200);
		assertThat(this.limiter.peek(RateLimitRequest.of(daily, ALICE)).statuses()).extracting(LimitStatus::remaining)
			.containsExactly(5L, 3L);
	}

	@ParameterizedTest
	@MethodSource("io.github.ratelimit.test.RateLimiterContract#algorithms")
	void memoryOfABurstIsGivenBack(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/s"));
		for (int i = 0; i < 20_000; i++) {
			this.limiter.tryAcquire(policy, Identifier.user("user" + i));
		}
		assertThat(this.limiter.size()).isEqualTo(20_000);
		for (int i = 0; i < 21_000; i++) {
			this.clock.advance(Duration.ofSeconds(1));
			this.limiter.tryAcquire(policy, Identifier.user("user" + i % 3));
		}
		assertThat(this.limiter.size()).isLessThan(10);
	}

	@ParameterizedTest
	@MethodSource("io.github.ratelimit.test.RateLimiterContract#algorithms")
	void nothingIsKeptOfRequestsThatUseNothing(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/s"));
		RateLimitRequest request = RateLimitRequest.of(policy, ALICE);
		this.limiter.peek(request);
		this.limiter.refund(request);
		this.limiter.tryAcquire(policy, ALICE, 0);
		this.limiter.tryAcquire(policy, ALICE, 6);
		assertThat(this.limiter.size()).isZero();
		this.limiter.tryAcquire(request);
		assertThat(this.limiter.size()).isOne();
		this.limiter.refund(request);
		assertThat(this.limiter.size()).isZero();
		this.limiter.tryAcquire(request);
		this.limiter.reset(policy, ALICE);
		assertThat(this.limiter.size()).isZero();
	}

	@Test
	void windowOfTheFutureIsKeptAsThePresentOne() {
		Policy policy = Policy.of("api", new FixedWindow(3, ZoneOffset.UTC), Limit.parse("5/h"));
		this.limiter.tryAcquire(policy, ALICE, 5);
		this.clock.advance(Duration.ofHours(1));
		this.limiter.tryAcquire(policy, ALICE);
		this.limiter.refund(RateLimitRequest.of(policy, ALICE));
		this.clock.advance(Duration.ofHours(-2));
		Policy nothing = Policy.of("nothing", new FixedWindow(), Limit.parse("0/h"));
		RateLimitRequest denied = RateLimitRequest.of(Charge.of(policy, ALICE), Charge.of(nothing, ALICE));
		assertThat(this.limiter.tryAcquire(denied).allowed()).isFalse();
		assertThat(this.limiter.series(policy, ALICE))
			.containsExactly(new WindowCount(policy.limits().get(0), Instant.parse("2026-03-01T12:00:00Z"), 5));
	}

	/** A log takes up to four times what counts, and so it does after refunds. */
	@Test
	void memoryOfWhatIsRefundedIsGivenBack() {
		List<Limit> limits = List.of(Limit.parse("1000/h"));
		long now = 1_772_366_400_000_000L;
		Meter meter = new SlidingLog().meter(limits, null, now);
		for (int i = 0; i < 1000; i++) {
			meter = new SlidingLog().meter(limits, (i > 0) ? meter.state() : null, now + i);
			meter.add(1, "");
		}
		meter = new SlidingLog().meter(limits, meter.state(), now + 1000);
		meter.refund(990);
		assertThat(meter.entries(1000, Long.MAX_VALUE)).hasSize(10);
		// Two numbers for each entry and the base, and where they are.
		assertThat(meter.state().numbers()).hasSizeLessThanOrEqualTo(4 * 2 * 11 + 2);
	}

	/** Not all at once. */
	@Test
	void requestSweepsNoMoreThanAFewCounts() {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("50000/s"));
		for (int i = 0; i < 10_000; i++) {
			this.limiter.tryAcquire(policy, Identifier.user("user" + i));
		}
		this.clock.advance(Duration.ofSeconds(1));
		int before = this.limiter.size();
		for (int i = 0; i < 20_000; i++) {
			this.limiter.tryAcquire(policy, ALICE);
			assertThat(this.limiter.size()).isBetween(before - 32, before + 1);
			before = this.limiter.size();
		}
		assertThat(before).isOne();
	}

	/** Where the next request of an identifier is counted anew. */
	@Test
	void refundedAndResetCountsAreNotSweptAgain() {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("5/s"));
		for (int i = 0; i < 20_000; i++) {
			Identifier identifier = Identifier.user("user" + i % 1500);
			this.limiter.tryAcquire(policy, identifier);
			if (i % 3 == 0) {
				this.limiter.refund(RateLimitRequest.of(policy, identifier));
			}
			else if (i % 3 == 1) {
				this.limiter.reset(policy, identifier);
			}
		}
		assertThat(this.limiter.size()).isEqualTo(500);
		assertThat(
				this.limiter.peek(RateLimitRequest.of(policy, Identifier.user("user2"))).statuses().get(0).remaining())
			.isZero();
	}

	@Test
	void leastRecentlyUsedCountsAreRemovedAtTheBound() {
		MemoryRateLimiter bounded = new MemoryRateLimiter(this.clock, 100);
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("1/d"));
		for (int i = 0; i < 1000; i++) {
			assertThat(bounded.tryAcquire(policy, Identifier.user("user" + i)).allowed()).isTrue();
			assertThat(bounded.size()).isLessThanOrEqualTo(100);
			assertThat(bounded.tryAcquire(policy, Identifier.user("user0")).allowed()).isEqualTo(false);
		}
		assertThat(bounded.tryAcquire(policy, Identifier.user("user950")).allowed()).isFalse();
		assertThat(bounded.tryAcquire(policy, Identifier.user("user1")).allowed()).isTrue();
	}

}
