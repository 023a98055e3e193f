package io.github.ratelimit.denial;

import java.time.Duration;
import java.util.List;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.algorithm.TokenBucket;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What ends that a denial is remembered: refunds, resets, blocks, other quotas, and time.
 */
class DenialCacheNoticesTests extends DenialCacheFixture {

	/** What one request has used is given back after another was denied because of it. */
	@Test
	void denialBecauseOfWhatWasGivenBackIsForgotten() {
		this.limiter.tryAcquire(REQUEST);
		this.limiter.tryAcquire(REQUEST);
		this.limiter.tryAcquire(REQUEST);
		this.limiter.refund(REQUEST);
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isFalse();
	}

	@Test
	void denialThatARefundedUseOvertookIsForgotten() {
		RateLimitRequest two = RateLimitRequest.of(Charge.of(POLICY, ALICE).withCost(2));
		this.store.meanwhile = () -> assertThat(this.limiter.tryAcquire(two).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isTrue();
		this.limiter.refund(REQUEST);
		assertThat(this.limiter.tryAcquire(two).allowed()).isTrue();
	}

	@Test
	void otherQuotasOfABurstAreNotToldOf() {
		Policy free = Policy.of("api", new TokenBucket(1L), Limit.parse("1/m"));
		Policy pro = Policy.of("api", new TokenBucket(1L), Limit.parse("600/m"));
		assertThat(this.limiter.tryAcquire(free, ALICE).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(free, ALICE).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(pro, ALICE).allowed()).isFalse();
		this.clock.advance(Duration.ofMillis(200));
		assertThat(this.limiter.tryAcquire(free, ALICE).allowed()).isTrue();
	}

	/** The tokens go on to come in as before, because a peek leaves the bucket alone. */
	@Test
	void peekAtAnotherQuotaOfABurstIsNotRemembered() {
		Policy pro = Policy.of("api", new TokenBucket(10L), Limit.parse("100/10s"));
		Policy free = Policy.of("api", new TokenBucket(10L), Limit.parse("1/10s"));
		assertThat(this.limiter.tryAcquire(pro, ALICE, 10).allowed()).isTrue();
		assertThat(this.limiter.peek(RateLimitRequest.of(free, ALICE)).retryAfter()).contains(Duration.ofSeconds(10));
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(this.limiter.tryAcquire(free, ALICE).allowed()).isTrue();
	}

	/** What is given back in the next window is not what was used in the one before. */
	@Test
	void storeIsAskedAfterARefundFromAnEstimate() {
		Policy policy = Policy.of("api", new SlidingWindowCounter(), Limit.parse("10/10s"));
		RateLimitRequest five = RateLimitRequest.of(Charge.of(policy, ALICE).withCost(5));
		this.clock.advance(Duration.ofSeconds(5));
		this.limiter.tryAcquire(policy, ALICE, 7);
		assertThat(this.limiter.tryAcquire(five).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(policy, ALICE, 3).allowed()).isTrue();
		this.clock.advance(Duration.ofSeconds(6));
		this.limiter.refund(RateLimitRequest.of(Charge.of(policy, ALICE).withCost(3)));
		Decision decision = this.limiter.tryAcquire(five);
		assertThat(decision.retryAfter()).contains(Duration.ofSeconds(4));
		assertThat(decision.source()).isEqualTo(Source.STORE);
		assertThat(this.limiter.tryAcquire(five))
			.isEqualTo(new Decision(false, decision.violated(), null, Source.DENIAL_CACHE));
	}

	/** What is used at the other quota drains at the other speed, all of it. */
	@Test
	void useAtAnotherQuotaEndsWhatIsKnown() {
		Policy free = Policy.of("api", new TokenBucket(3L), Limit.parse("1/m"));
		Policy pro = Policy.of("api", new TokenBucket(3L), Limit.parse("600/m"));
		assertThat(this.limiter.tryAcquire(free, ALICE, 2).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(free, ALICE, 2).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(free, ALICE, 2).source()).isEqualTo(Source.DENIAL_CACHE);
		assertThat(this.limiter.tryAcquire(pro, ALICE).allowed()).isTrue();
		this.limiter.refund(RateLimitRequest.of(pro, ALICE));
		this.clock.advance(Duration.ofMillis(200));
		assertThat(this.limiter.tryAcquire(free, ALICE, 2).allowed()).isTrue();
	}

	@Test
	void whatIsGivenBackToTheWatchedStoreIsNoticed() {
		RateLimiter watched = this.cache.watchCounts(this.store);
		exhaust();
		this.limiter.tryAcquire(REQUEST);
		assertThat(watched.tryAcquire(REQUEST).source()).isEqualTo(Source.STORE);
		watched.refund(REQUEST);
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isTrue();
		this.limiter.tryAcquire(REQUEST);
		watched.reset(POLICY, ALICE);
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isTrue();
		assertThat(watched.tryAcquire(REQUEST).allowed()).isTrue();
		this.limiter.tryAcquire(REQUEST);
		watched.charge(REQUEST);
		assertThat(this.limiter.tryAcquire(REQUEST).source()).isEqualTo(Source.STORE);
	}

	@Test
	void refundsChargesAndResetsAreNoticed() {
		exhaust();
		this.limiter.tryAcquire(REQUEST);
		this.limiter.refund(REQUEST);
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isTrue();
		this.limiter.tryAcquire(REQUEST);
		this.limiter.reset(POLICY, ALICE);
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isTrue();
		this.limiter.tryAcquire(REQUEST);
		this.limiter.tryAcquire(REQUEST);
		this.limiter.charge(REQUEST);
		assertThat(this.limiter.tryAcquire(REQUEST).source()).isEqualTo(Source.STORE);
	}

	@Test
	void refundUnderAnotherQuotaIsNoticed() {
		exhaust();
		this.limiter.tryAcquire(REQUEST);
		Policy raised = Policy.of("api", new SlidingLog(), Limit.parse("3/m"), Limit.parse("100/h"));
		this.limiter.refund(RateLimitRequest.of(raised, ALICE));
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isTrue();
	}

	@Test
	void blocksAreRememberedAndTheirEndIsNoticed() {
		RateLimitRequest request = RateLimitRequest.of(POLICY, ALICE, ADDRESS);
		this.blocks.block(ADDRESS, null, Duration.ofHours(1), "");
		assertThat(this.limiter.tryAcquire(request).blockedFor()).isEqualTo(Duration.ofHours(1));
		this.clock.advance(Duration.ofMinutes(20));
		assertThat(this.limiter.tryAcquire(request))
			.isEqualTo(new Decision(false, List.of(), Duration.ofMinutes(40), Source.DENIAL_CACHE));
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isTrue();
		this.blocks.block(ADDRESS, null, Duration.ofHours(2), "");
		assertThat(this.limiter.tryAcquire(request).blockedFor()).isEqualTo(Duration.ofHours(2));
		this.blocks.unblock(ADDRESS, null);
		assertThat(this.limiter.tryAcquire(request).allowed()).isTrue();
	}

	@Test
	void storeIsAskedOnceAboutEachCostOfABlock() {
		this.blocks.block(ALICE, null, Duration.ofHours(1), "");
		for (int i = 0; i < 1000; i++) {
			assertThat(this.limiter.tryAcquire(POLICY, ALICE, i % 10).blockedFor()).isEqualTo(Duration.ofHours(1));
		}
		assertThat(this.store.calls).isEqualTo(10);
		assertThat(this.limiter.tryAcquire(POLICY, ADDRESS, 0).allowed()).isTrue();
	}

	@Test
	void whoIsBlockedAfterADenialIsToldSo() {
		exhaust();
		this.limiter.tryAcquire(REQUEST);
		this.blocks.block(ALICE, null, Duration.ofHours(1), "");
		assertThat(this.limiter.tryAcquire(REQUEST).blockedFor()).isEqualTo(Duration.ofHours(1));
		assertThat(this.blocks.blocks()).hasSize(1);
	}

	@Test
	void whatOthersGiveBackIsNoticedAfterTheMaximumAge() {
		RateLimiter impatient = newCache(Duration.ofSeconds(5), 10).cache(this.memory);
		exhaust();
		impatient.tryAcquire(REQUEST);
		this.memory.reset(POLICY, ALICE);
		this.clock.advance(Duration.ofNanos(4_999_999_999L));
		assertThat(impatient.tryAcquire(REQUEST).allowed()).isFalse();
		this.clock.advance(Duration.ofNanos(1));
		assertThat(impatient.tryAcquire(REQUEST).allowed()).isTrue();
	}

	/** Otherwise it would be denied for a minute, though nothing is used. */
	@Test
	void denialThatWasOvertakenByARefundIsNotRemembered() {
		exhaust();
		this.store.meanwhile = () -> this.limiter.reset(POLICY, ALICE);
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isTrue();
	}

	@Test
	void blockThatWasEndedMeanwhileIsNotRemembered() {
		this.blocks.block(ALICE, null, Duration.ofHours(1), "");
		this.store.meanwhile = () -> this.blocks.unblock(ALICE, null);
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isTrue();
	}

}
