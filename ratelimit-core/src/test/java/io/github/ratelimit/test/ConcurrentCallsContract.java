package io.github.ratelimit.test;

import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.ConcurrentCalls;
import io.github.ratelimit.algorithm.SlidingLog;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

public abstract class ConcurrentCallsContract extends RateLimiterContract {

	private static final Duration LEASE = Duration.ofMinutes(1);

	private static final Policy POLICY = atOnce(2);

	private static Policy atOnce(long quota) {
		return new Policy("reports", new ConcurrentCalls(), List.of(new Limit(quota, LEASE)));
	}

	private static RateLimitRequest call(long number) {
		return RateLimitRequest.of(POLICY, ALICE).withCall(number);
	}

	private void begin(long... calls) {
		for (long call : calls) {
			assertThat(this.limiter.tryAcquire(call(call)).allowed()).isTrue();
		}
	}

	@Test
	void lostCallIsEnteredAgainBeyondTheQuota() {
		this.limiter.tryAcquire(call(1));
		this.limiter.reset(POLICY, ALICE);
		begin(2, 3);
		this.limiter.charge(call(1));
		this.limiter.refund(call(2));
		assertThat(this.limiter.tryAcquire(call(4)).allowed()).isFalse();
		this.limiter.refund(call(1));
		assertThat(this.limiter.tryAcquire(call(4)).allowed()).isTrue();
	}

	@Test
	void callsAreDecidedTogetherWithLimits() {
		Policy rate = policy("rate", new SlidingLog(), "1/h");
		RateLimitRequest request = RateLimitRequest.of(Charge.of(POLICY, ALICE), Charge.of(rate, ALICE));
		assertThat(this.limiter.tryAcquire(request.withCall(1)).allowed()).isTrue();
		Decision denied = this.limiter.tryAcquire(request.withCall(2));
		assertThat(denied.violated()).extracting((status) -> status.policy().name()).containsExactly("rate");
		assertThat(status(POLICY, ALICE).remaining()).isEqualTo(1);
	}

	@Test
	void identifiersHaveCallsOfTheirOwn() {
		RateLimitRequest both = RateLimitRequest.of(POLICY, ALICE, ADDRESS);
		begin(1, 2);
		assertThat(this.limiter.tryAcquire(both.withCall(3)).allowed()).isFalse();
		assertThat(status(POLICY, ADDRESS).remaining()).isEqualTo(2);
		this.limiter.refund(call(2));
		assertThat(this.limiter.tryAcquire(both.withCall(3)).allowed()).isTrue();
		this.limiter.refund(both.withCall(3));
		assertThat(status(POLICY, ADDRESS).remaining()).isEqualTo(2);
		assertThat(status(POLICY, ALICE).remaining()).isEqualTo(1);
	}

	@Test
	void clockSetBackHoldsCallsForOneLeaseAtMost() {
		begin(1, 2);
		this.clock.advance(Duration.ofDays(-1));
		assertThat(this.limiter.tryAcquire(call(3)).retryAfter()).hasValue(LEASE);
		this.clock.advance(LEASE);
		assertThat(status(POLICY, ALICE).remaining()).isEqualTo(2);
	}

	@Test
	void otherQuotaAppliesToTheCallsThatRun() {
		begin(1, 2);
		RateLimitRequest more = RateLimitRequest.of(atOnce(3), ALICE).withCall(3);
		assertThat(this.limiter.tryAcquire(more).allowed()).isTrue();
		this.limiter.refund(call(1));
		assertThat(this.limiter.tryAcquire(call(4)).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(RateLimitRequest.of(atOnce(0), ALICE).withCall(4)).retryAfter()).isEmpty();
	}

	@Test
	void largestQuotaCanBeUsed() {
		Policy most = atOnce(ConcurrentCalls.MAX_QUOTA);
		RateLimitRequest request = RateLimitRequest.of(Charge.of(most, ALICE).withCost(ConcurrentCalls.MAX_QUOTA));
		assertThat(this.limiter.tryAcquire(request.withCall(RateLimitRequest.MAX_CALL)).allowed()).isTrue();
		this.limiter.charge(request.withCall(1));
		this.limiter.charge(request.withCall(2));
		this.limiter.refund(request.withCall(1));
		assertThat(status(most, ALICE).remaining()).isZero();
		this.limiter.refund(request.withCall(RateLimitRequest.MAX_CALL));
		assertThat(status(most, ALICE).remaining()).isEqualTo(1000);
	}

	/**
	 * The bound: no more than the quota run of those that were admitted and whose lease
	 * has not ended; and nothing counts longer than the lease after it was last renewed.
	 * Waits are until the first lease ends, and a refund removes no other call.
	 */
	@Test
	void noMoreThanTheQuotaRunAtAnyTime() {
		for (int seed = 0; seed < 30; seed++) {
			Random random = new Random(seed);
			long quota = 1 + random.nextInt(5);
			Policy policy = atOnce(quota);
			this.limiter.reset(policy, ALICE);
			Map<Long, Instant> ends = new HashMap<>();
			for (long number = 1; number <= 60; number++) {
				RateLimitRequest request = RateLimitRequest.of(policy, ALICE).withCall(number);
				Instant now = this.clock.instant();
				ends.values().removeIf((end) -> !end.isAfter(now));
				boolean fits = ends.size() < quota;
				Decision decision = this.limiter.tryAcquire(request);
				assertThat(decision.allowed()).as("seed %d, call %d", seed, number).isEqualTo(fits);
				if (fits) {
					ends.put(number, now.plus(LEASE));
				}
				Duration first = Duration.between(now, Collections.min(ends.values()));
				assertThat(decision.retryAfter()).contains(fits ? Duration.ZERO : first);
				assertThat(decision.statuses()).extracting(LimitStatus::remaining, LimitStatus::resetAfter)
					.containsExactly(tuple(quota - ends.size(), first));
				// Perhaps one that does not run any more, or was not admitted.
				long other = Math.max(1, number - random.nextInt(8));
				if (random.nextInt(3) == 0) {
					this.limiter.refund(request.withCall(other));
					ends.remove(other);
				}
				else if (ends.containsKey(other) && random.nextBoolean()) {
					this.limiter.charge(request.withCall(other));
					ends.put(other, now.plus(LEASE));
				}
				this.clock.advance((random.nextInt(4) == 0) ? first : Duration.ofMillis(random.nextInt(25_000)));
			}
		}
	}

}
