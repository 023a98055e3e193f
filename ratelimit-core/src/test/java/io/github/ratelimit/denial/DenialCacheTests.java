package io.github.ratelimit.denial;

import java.time.Duration;
import java.util.List;
import java.util.function.IntFunction;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Decision;
import io.github.ratelimit.DelegatingRateLimiter;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.ConcurrentCalls;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.TokenBucket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How often the store is asked, what is not remembered, and what happens meanwhile. That
 * the answers are right is the matter of {@link DenialCacheDifferentialTests}.
 */
class DenialCacheTests extends DenialCacheFixture {

	/** A count that everybody uses. */
	private static final Policy SHARED = policy("shared", new FixedWindow(), "9999/h");

	@Test
	void storeIsNotAskedAboutThoseWhoWereDenied() {
		exhaust();
		Decision first = this.limiter.tryAcquire(REQUEST);
		this.clock.advance(Duration.ofNanos(59_999_998_500L));
		for (int i = 0; i < 1000; i++) {
			Decision denied = this.limiter.tryAcquire(REQUEST);
			assertThat(denied.source()).isEqualTo(Source.DENIAL_CACHE);
			assertThat(denied.violated()).extracting(LimitStatus::limit)
				.containsExactly(first.violated().get(0).limit());
			assertThat(denied.retryAfter()).as("rounded up").contains(Duration.ofNanos(2000));
		}
		assertThat(this.store.calls).isEqualTo(3);
		this.clock.advance(Duration.ofNanos(1500));
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isTrue();
	}

	@Test
	void whatOthersGiveBackIsNoticedAfterTheMaximumAge() {
		Policy other = policy("other", new SlidingLog(), "2/m");
		RateLimiter limiter = newCache(Duration.ofSeconds(5), 10).cache(this.store,
				(policy) -> policy.equals(other) ? Duration.ofSeconds(1) : DenialCache.LONGEST_AGE);
		for (Policy policy : List.of(POLICY, other)) {
			RateLimitRequest request = RateLimitRequest.of(policy, ALICE);
			for (int i = 0; i < 9; i++) {
				assertThat(limiter.tryAcquire(request).allowed()).isEqualTo(i < 2);
			}
			this.memory.refund(request);
			this.clock.advance(Duration.ofSeconds((policy == other) ? 1 : 5).minusNanos(1));
			assertThat(limiter.tryAcquire(request).allowed()).isFalse();
			this.clock.advance(Duration.ofNanos(1));
			assertThat(limiter.tryAcquire(request).allowed()).isTrue();
		}
	}

	@Test
	void denialsByCallsAreNotRemembered() {
		Policy calls = policy("calls", new ConcurrentCalls(), "1/m");
		RateLimitRequest request = RateLimitRequest.of(Charge.of(calls, ALICE), Charge.of(POLICY, ALICE));
		this.limiter.tryAcquire(request.withCall(1));
		assertThat(this.limiter.tryAcquire(request.withCall(2)).allowed()).isFalse();
		this.memory.refund(request.withCharges(List.of(Charge.of(calls, ALICE))).withCall(1));
		assertThat(this.limiter.tryAcquire(request.withCall(2)).allowed()).isTrue();
		this.memory.refund(request.withCharges(List.of(Charge.of(calls, ALICE))).withCall(2));
		assertThat(this.limiter.tryAcquire(request.withCall(3)).violated()).extracting(LimitStatus::policy)
			.containsExactly(POLICY);
		assertThat(this.limiter.tryAcquire(request.withCall(3)).source()).isEqualTo(Source.DENIAL_CACHE);
	}

	/** As one that decides by the quotas of a plan. */
	@Test
	void denialByOtherLimitsIsNotOfThePolicy() {
		Policy asked = policy(new SlidingLog(), "9/m", "100/h");
		RateLimiter limiter = this.cache.cache(new DelegatingRateLimiter(this.memory) {

			@Override
			public Decision tryAcquire(RateLimitRequest request) {
				return super.tryAcquire(REQUEST);
			}

		});
		for (int i = 0; i < 9; i++) {
			Decision decision = limiter.tryAcquire(RateLimitRequest.of(asked, ALICE));
			assertThat(decision.allowed()).isEqualTo(i < 2);
			assertThat(decision.statuses()).extracting(LimitStatus::policy).containsOnly(POLICY);
		}
	}

	/** Of the same policies and identifiers, one is enforced and the other is not. */
	@Test
	void blockOfAShadowIsNotOfTheRequest() {
		Policy other = policy("other", new FixedWindow(), "5/m");
		Charge first = Charge.of(POLICY, ALICE);
		Charge second = Charge.of(other, ALICE);
		this.blocks.block(ALICE, "api", Duration.ofMinutes(1), "");
		assertThat(this.limiter.tryAcquire(RateLimitRequest.of(first, second.inShadow())).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(RateLimitRequest.of(first.inShadow(), second)).allowed()).isTrue();
	}

	/** Returns how often the store is asked in a thousand requests that are denied. */
	private int asked(IntFunction<RateLimitRequest> requests) {
		int before = this.store.calls;
		for (int i = 0; i < 1000; i++) {
			assertThat(this.limiter.tryAcquire(SHARED, Identifier.GLOBAL).allowed()).isTrue();
			assertThat(this.limiter.tryAcquire(requests.apply(i)).allowed()).isFalse();
		}
		return this.store.calls - before - 1000;
	}

	@Test
	void changingIdentifiersReachTheStoreSixteenTimesASecond() {
		exhaust();
		this.limiter.tryAcquire(REQUEST);
		Policy other = policy("other", new SlidingLog(), "5/m");
		IntFunction<RateLimitRequest> requests = (i) -> RateLimitRequest
			.of(Charge.of(other, Identifier.user("user" + i)), Charge.of(POLICY, Identifier.user("user" + i), ALICE));
		assertThat(asked(requests)).isEqualTo(16);
		assertThat(this.limiter.tryAcquire(requests.apply(1000)).violated()).extracting(LimitStatus::identifier)
			.containsExactly(ALICE);
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(asked(requests)).isEqualTo(16);
	}

	@Test
	void blockedClientsReachTheStoreSixteenTimesASecond() {
		RateLimitRequest request = RateLimitRequest.of(Charge.of(POLICY, ALICE), Charge.of(SHARED, Identifier.GLOBAL));
		this.blocks.block(ALICE, "api", Duration.ofMinutes(1), "");
		assertThat(asked((i) -> request)).isEqualTo(1 + 16);
		assertThat(this.limiter.tryAcquire(request).blockedFor()).isEqualTo(Duration.ofMinutes(1));
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(this.limiter.tryAcquire(request).source()).isEqualTo(Source.STORE);
	}

	@Test
	void changingCostsReachStoreSixteenTimesASecondInAll() {
		exhaust();
		assertThat(asked((i) -> RateLimitRequest.of(Charge.of(POLICY, ALICE).withCost(1 + i % 50),
				Charge.of(SHARED, Identifier.GLOBAL))))
			.as("each cost once, and all together")
			.isEqualTo(50 + 16);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void storeIsAskedOnceAboutEachCost(boolean blocked) {
		exhaust();
		if (blocked) {
			this.blocks.block(ALICE, null, Duration.ofHours(1), "");
		}
		int before = this.store.calls;
		for (int i = 0; i < 1000; i++) {
			Decision decision = this.limiter.tryAcquire(POLICY, ALICE, 1 + i % 50);
			assertThat(decision.blockedFor()).isEqualTo(blocked ? Duration.ofHours(1) : null);
			assertThat(decision.source()).isEqualTo((i < 50) ? Source.STORE : Source.DENIAL_CACHE);
		}
		assertThat(this.store.calls - before).isEqualTo(50);
	}

	@ParameterizedTest
	@EnumSource
	void onlyDecisionsOfTheStoreAreRemembered(Source source) {
		Decision decision = new Decision(false,
				List.of(LimitStatus.ofMicros(POLICY, ALICE, POLICY.limits().get(0), 0, 1000, 1000, true)), null,
				source);
		RateLimiter limiter = this.cache.cache(new DelegatingRateLimiter(this.memory) {

			@Override
			public Decision tryAcquire(RateLimitRequest request) {
				return decision;
			}

		});
		limiter.tryAcquire(REQUEST);
		assertThat(limiter.tryAcquire(REQUEST).source())
			.isEqualTo((source == Source.STORE) ? Source.DENIAL_CACHE : source);
	}

	@Test
	void noMoreIsRememberedThanTheMaximumSize() {
		RateLimiter small = newCache(Duration.ofDays(1), 10).cache(this.store);
		Policy none = policy("none", new SlidingLog(), "0/m");
		for (int i = 0; i < 2000; i++) {
			small.tryAcquire(none, Identifier.user("user" + i % 1000));
		}
		assertThat(this.store.calls).isBetween(1990, 2000);
	}

	@Test
	void peekIsAnsweredFromMemoryButNotRemembered() {
		exhaust();
		assertThat(this.limiter.peek(REQUEST)).isEqualTo(this.limiter.tryAcquire(REQUEST));
		assertThat(this.limiter.peek(REQUEST).source()).isEqualTo(Source.DENIAL_CACHE);
		assertThat(this.store.calls).isEqualTo(3);
		assertThat(this.store.peeks).isEqualTo(1);
		assertThat(this.cache.watchCounts(this.store).peek(REQUEST).source()).isEqualTo(Source.STORE);
	}

	/** Otherwise it would be denied for a minute, though nothing is used. */
	@Test
	void denialThatAResetOvertookIsNotRemembered() {
		exhaust();
		this.store.meanwhile = () -> this.limiter.reset(POLICY, ALICE);
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isTrue();
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
	void blockThatWasEndedMeanwhileIsNotRemembered() {
		this.blocks.block(ALICE, null, Duration.ofHours(1), "");
		this.store.meanwhile = () -> this.blocks.unblock(ALICE, null);
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isTrue();
	}

	/** What is used, or only asked, at the other quota drains at the other speed. */
	@ParameterizedTest
	@CsvSource({ "1, 1, false", "3, 2, true" })
	void otherQuotaOfABurstEndsWhatIsKnown(long burst, long cost, boolean allowed) {
		Policy free = policy(new TokenBucket(burst), "1/m");
		Policy pro = policy(new TokenBucket(burst), "600/m");
		assertThat(this.limiter.tryAcquire(free, ALICE, cost).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(free, ALICE, cost).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(free, ALICE, cost).source()).isEqualTo(Source.DENIAL_CACHE);
		assertThat(this.limiter.tryAcquire(pro, ALICE).allowed()).isEqualTo(allowed);
		this.limiter.refund(RateLimitRequest.of(Charge.of(pro, ALICE).withCost(allowed ? 1 : 0)));
		this.clock.advance(Duration.ofMillis(200));
		assertThat(this.limiter.tryAcquire(free, ALICE, cost).allowed()).isTrue();
	}

	/** The tokens go on to come in as before, because a peek leaves the bucket alone. */
	@Test
	void peekAtAnotherQuotaOfABurstIsNotRemembered() {
		Policy pro = policy(new TokenBucket(10L), "100/10s");
		Policy free = policy(new TokenBucket(10L), "1/10s");
		assertThat(this.limiter.tryAcquire(pro, ALICE, 10).allowed()).isTrue();
		assertThat(this.limiter.peek(RateLimitRequest.of(free, ALICE)).retryAfter()).contains(Duration.ofSeconds(10));
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(this.limiter.tryAcquire(free, ALICE).allowed()).isTrue();
	}

}
