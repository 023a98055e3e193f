package io.github.ratelimit.denial;

import java.time.Duration;
import java.util.List;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.ConcurrentCalls;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What is answered from memory.
 */
class DenialCacheTests extends DenialCacheFixture {

	/** A count that everybody uses. */
	private static final Policy SHARED = Policy.of("shared", new FixedWindow(), Limit.parse("9999/h"));

	@Test
	void storeIsNotAskedAboutThoseWhoWereDenied() {
		exhaust();
		Decision first = this.limiter.tryAcquire(REQUEST);
		for (int i = 0; i < 1000; i++) {
			assertThat(this.limiter.tryAcquire(REQUEST))
				.isEqualTo(new Decision(false, first.violated(), null, Source.DENIAL_CACHE));
		}
		assertThat(this.store.calls).isEqualTo(3);
	}

	@Test
	void policyMayHaveAShorterMaximumAge() {
		Policy other = Policy.of("other", new SlidingLog(), Limit.parse("2/m"));
		RateLimiter limiter = this.cache.cache(this.store,
				(policy) -> policy.equals(other) ? Duration.ofSeconds(1) : DenialCache.LONGEST_AGE);
		for (Policy policy : List.of(POLICY, other)) {
			RateLimitRequest request = RateLimitRequest.of(policy, ALICE);
			for (int i = 0; i < 9; i++) {
				assertThat(limiter.tryAcquire(request).allowed()).isEqualTo(i < 2);
			}
			this.memory.refund(request);
			assertThat(limiter.tryAcquire(request).allowed()).isFalse();
			this.clock.advance(Duration.ofSeconds(1));
			assertThat(limiter.tryAcquire(request).allowed()).isEqualTo(policy == other);
		}
	}

	@Test
	void denialsByCallsAreNotRemembered() {
		Policy calls = Policy.of("calls", new ConcurrentCalls(), Limit.parse("1/m"));
		RateLimitRequest request = RateLimitRequest.of(Charge.of(calls, ALICE), Charge.of(POLICY, ALICE));
		this.limiter.tryAcquire(request.withCall(1));
		assertThat(this.limiter.tryAcquire(request.withCall(2)).allowed()).isFalse();
		this.memory.refund(request.withCharges(List.of(Charge.of(calls, ALICE))).withCall(1));
		assertThat(this.limiter.tryAcquire(request.withCall(2)).allowed()).isTrue();
		this.memory.refund(request.withCharges(List.of(Charge.of(calls, ALICE))).withCall(2));
		assertThat(this.limiter.tryAcquire(request.withCall(3)).violated()).extracting(LimitStatus::policy)
			.containsExactly(POLICY);
		int before = this.store.calls;
		assertThat(this.limiter.tryAcquire(request.withCall(3)).source()).isEqualTo(Source.DENIAL_CACHE);
		assertThat(this.store.calls).isEqualTo(before);
	}

	/** As one that decides by the quotas of a plan. */
	@Test
	void denialByOtherLimitsIsNotOfThePolicy() {
		Policy asked = Policy.of("api", new SlidingLog(), Limit.parse("9/m"), Limit.parse("100/h"));
		RateLimiter limiter = this.cache.cache((OtherQuotas) (request) -> this.memory.tryAcquire(REQUEST));
		RateLimitRequest request = RateLimitRequest.of(asked, ALICE);
		for (int i = 0; i < 9; i++) {
			Decision decision = limiter.tryAcquire(request);
			assertThat(decision.allowed()).isEqualTo(i < 2);
			assertThat(decision.statuses()).extracting(LimitStatus::policy).containsOnly(POLICY);
		}
	}

	private interface OtherQuotas extends RateLimiter {

		@Override
		Decision tryAcquire(RateLimitRequest request);

		@Override
		default Decision peek(RateLimitRequest request) {
			throw new UnsupportedOperationException();
		}

		@Override
		default void refund(RateLimitRequest request) {
		}

		@Override
		default void charge(RateLimitRequest request) {
		}

		@Override
		default void reset(Policy policy, Identifier identifier) {
		}

	}

	@Test
	void shadowIsNeverDeniedFromMemory() {
		exhaust();
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isFalse();
		Policy wide = Policy.of("wide", new FixedWindow(), Limit.parse("5/m"));
		RateLimitRequest shadow = RateLimitRequest.of(Charge.of(POLICY, ALICE).inShadow(), Charge.of(wide, ALICE));
		for (int i = 0; i < 5; i++) {
			Decision decision = this.limiter.tryAcquire(shadow);
			assertThat(decision.allowed()).isTrue();
			assertThat(decision.shadow(shadow.charges().get(0)).allowed()).isFalse();
		}
		assertThat(this.limiter.tryAcquire(shadow).source()).isEqualTo(Source.STORE);
		assertThat(this.limiter.tryAcquire(shadow).source()).isEqualTo(Source.DENIAL_CACHE);
		assertThat(this.limiter.tryAcquire(RateLimitRequest.of(POLICY, ADDRESS)).allowed()).isTrue();
	}

	/** Of the same policies and identifiers, one is enforced and the other is not. */
	@Test
	void blockOfAShadowIsNotOfTheRequest() {
		Policy other = Policy.of("other", new FixedWindow(), Limit.parse("5/m"));
		Charge first = Charge.of(POLICY, ALICE);
		Charge second = Charge.of(other, ALICE);
		this.blocks.block(ALICE, "api", Duration.ofMinutes(1), "");
		assertThat(this.limiter.tryAcquire(RateLimitRequest.of(first, second.inShadow())).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(RateLimitRequest.of(first.inShadow(), second)).allowed()).isTrue();
	}

	@Test
	void countOfAShadowIsNoticed() {
		Policy other = Policy.of("other", new FixedWindow(), Limit.parse("2/m"));
		RateLimitRequest two = RateLimitRequest.of(Charge.of(other, ALICE).withCost(2));
		RateLimitRequest shadow = RateLimitRequest.of(Charge.of(other, ALICE).withCost(1).inShadow());
		this.limiter.tryAcquire(RateLimitRequest.of(Charge.of(other, ALICE)));
		Decision denied = this.limiter.tryAcquire(two);
		assertThat(denied.violated().get(0).remaining()).isEqualTo(1);
		this.limiter.tryAcquire(shadow);
		assertThat(this.limiter.tryAcquire(two).violated().get(0).remaining()).isZero();
	}

	@Test
	void timesAreThoseThatAreLeft() {
		exhaust();
		this.limiter.tryAcquire(REQUEST);
		this.clock.advance(Duration.ofNanos(59_999_998_500L));
		Decision last = this.limiter.tryAcquire(REQUEST);
		assertThat(last.retryAfter()).contains(Duration.ofNanos(2000));
		assertThat(last.violated().get(0).resetAfter()).isEqualTo(Duration.ofNanos(2000));
		assertThat(this.store.calls).isEqualTo(3);
		this.clock.advance(Duration.ofNanos(1500));
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isTrue();
	}

	@Test
	void eachLimitIsToldOfAsLongAsItDenies() {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("2/m"), Limit.parse("2/h"));
		RateLimitRequest request = RateLimitRequest.of(policy, ALICE);
		this.limiter.tryAcquire(request);
		this.limiter.tryAcquire(request);
		assertThat(this.limiter.tryAcquire(request).violated()).hasSize(2);
		assertThat(this.limiter.tryAcquire(request).violated()).hasSize(2);
		this.clock.advance(Duration.ofMinutes(1));
		Decision later = this.limiter.tryAcquire(request);
		assertThat(later.source()).isEqualTo(Source.DENIAL_CACHE);
		assertThat(later.statuses()).extracting(LimitStatus::limit).containsExactly(Limit.parse("2/h"));
		assertThat(later.retryAfter()).contains(Duration.ofMinutes(59));
	}

	@Test
	void otherCostsIdentifiersAndQuotasAreAskedAbout() {
		RateLimitRequest two = RateLimitRequest.of(Charge.of(POLICY, ALICE).withCost(2));
		this.limiter.tryAcquire(REQUEST);
		assertThat(this.limiter.tryAcquire(two).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(two).source()).isEqualTo(Source.DENIAL_CACHE);
		assertThat(this.limiter.tryAcquire(REQUEST).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(REQUEST).source()).isEqualTo(Source.STORE);
		assertThat(this.limiter.tryAcquire(REQUEST).source()).isEqualTo(Source.DENIAL_CACHE);
		assertThat(this.limiter.tryAcquire(POLICY, ADDRESS).allowed()).isTrue();
		Policy raised = Policy.of("api", new SlidingLog(), Limit.parse("3/m"), Limit.parse("100/h"));
		assertThat(this.limiter.tryAcquire(raised, ALICE).allowed()).isTrue();
	}

	@Test
	void retryAfterIsOfTheWholeRequest() {
		Policy second = Policy.of("second", new SlidingLog(), Limit.parse("1/s"));
		Policy hour = Policy.of("hour", new SlidingLog(), Limit.parse("1/h"));
		RateLimitRequest both = RateLimitRequest.of(Charge.of(second, ALICE), Charge.of(hour, ALICE));
		assertThat(this.limiter.tryAcquire(both).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(second, ALICE).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(second, ALICE).source()).isEqualTo(Source.DENIAL_CACHE);
		for (int i = 0; i < 100; i++) {
			assertThat(this.limiter.tryAcquire(both).retryAfter()).contains(Duration.ofHours(1));
		}
		assertThat(this.store.calls).isEqualTo(3);
	}

	@Test
	void denialNamesTheLimitThatDenies() {
		exhaust();
		RateLimitRequest request = RateLimitRequest.of(POLICY, ADDRESS, ALICE);
		Decision first = this.limiter.tryAcquire(request);
		assertThat(first.source()).isEqualTo(Source.STORE);
		assertThat(this.limiter.tryAcquire(request))
			.isEqualTo(new Decision(false, first.violated(), null, Source.DENIAL_CACHE));
		this.limiter.tryAcquire(POLICY, ADDRESS);
		assertThat(this.limiter.tryAcquire(request).source()).isEqualTo(Source.STORE);
	}

	@Test
	void changingIdentifiersReachTheStoreSixteenTimesASecond() {
		exhaust();
		this.limiter.tryAcquire(REQUEST);
		int calls = this.store.calls;
		Policy other = Policy.of("other", new SlidingLog(), Limit.parse("5/m"));
		for (int i = 0; i < 1000; i++) {
			Decision decision = this.limiter
				.tryAcquire(RateLimitRequest.of(Charge.of(other, Identifier.user("user" + i)),
						Charge.of(POLICY, Identifier.user("user" + i), ALICE)));
			assertThat(decision.allowed()).isFalse();
			assertThat(decision.violated()).extracting(LimitStatus::identifier).containsExactly(ALICE);
		}
		assertThat(this.store.calls).isEqualTo(calls + 16);
		this.clock.advance(Duration.ofSeconds(1));
		RateLimitRequest later = RateLimitRequest.of(POLICY, ADDRESS, ALICE);
		assertThat(this.limiter.tryAcquire(later).source()).isEqualTo(Source.STORE);
	}

	@Test
	void blockedClientsReachTheStoreSixteenTimesASecond() {
		RateLimitRequest request = RateLimitRequest.of(Charge.of(POLICY, ALICE), Charge.of(SHARED, Identifier.GLOBAL));
		this.blocks.block(ALICE, "api", Duration.ofMinutes(1), "");
		assertThat(this.limiter.tryAcquire(request).allowed()).isFalse();
		int before = this.store.calls;
		for (int i = 0; i < 1000; i++) {
			assertThat(this.limiter.tryAcquire(SHARED, Identifier.GLOBAL).allowed()).isTrue();
			assertThat(this.limiter.tryAcquire(request).blockedFor()).isEqualTo(Duration.ofMinutes(1));
		}
		assertThat(this.store.calls - before - 1000).isEqualTo(16);
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(this.limiter.tryAcquire(request).source()).isEqualTo(Source.STORE);
	}

	@Test
	void changingCostsReachStoreSixteenTimesASecondInAll() {
		exhaust();
		int before = this.store.calls;
		for (int i = 0; i < 1000; i++) {
			assertThat(this.limiter.tryAcquire(SHARED, Identifier.GLOBAL).allowed()).isTrue();
			assertThat(this.limiter
				.tryAcquire(RateLimitRequest.of(Charge.of(POLICY, ALICE).withCost(1 + i % 50),
						Charge.of(SHARED, Identifier.GLOBAL)))
				.allowed()).isFalse();
		}
		assertThat(this.store.calls - before - 1000).as("each cost once, and all together").isEqualTo(50 + 16);
	}

	@Test
	void storeIsAskedOnceAboutEachCost() {
		exhaust();
		Policy wide = Policy.of("wide", new SlidingLog(), Limit.parse("100/m"));
		this.limiter.tryAcquire(wide, ALICE, 50);
		for (int round = 0; round < 2; round++) {
			for (int cost = 100; cost > 50; cost--) {
				Decision decision = this.limiter.tryAcquire(wide, ALICE, cost);
				assertThat(decision.allowed()).isFalse();
				assertThat(decision.source()).isEqualTo((round == 0) ? Source.STORE : Source.DENIAL_CACHE);
			}
		}
	}

	@Test
	void remainingIsTrue() {
		this.limiter.tryAcquire(REQUEST);
		this.clock.advance(Duration.ofSeconds(10));
		this.limiter.tryAcquire(REQUEST);
		RateLimitRequest two = RateLimitRequest.of(Charge.of(POLICY, ALICE).withCost(2));
		assertThat(this.limiter.tryAcquire(two).violated().get(0).remaining()).isZero();
		this.clock.advance(Duration.ofNanos(49_999_999_999L));
		Decision before = this.limiter.tryAcquire(two);
		assertThat(before.source()).isEqualTo(Source.DENIAL_CACHE);
		assertThat(before.violated().get(0).resetAfter()).isEqualTo(Duration.ofNanos(1000));
		assertThat(before.retryAfter()).contains(Duration.ofNanos(10_000_001_000L));
		this.clock.advance(Duration.ofNanos(1));
		Decision later = this.limiter.tryAcquire(two);
		assertThat(later.violated().get(0).remaining()).isEqualTo(1);
		assertThat(later.violated().get(0).resetAfter()).isEqualTo(Duration.ofSeconds(10));
		assertThat(this.limiter.tryAcquire(two).violated()).isEqualTo(later.violated());
		assertThat(this.limiter.tryAcquire(two).source()).isEqualTo(Source.DENIAL_CACHE);
	}

	@Test
	void costThatIsNeverAllowedIsRemembered() {
		RateLimitRequest never = RateLimitRequest.of(Charge.of(POLICY, ALICE).withCost(3));
		assertThat(this.limiter.tryAcquire(never).retryAfter()).isEmpty();
		Decision again = this.limiter.tryAcquire(never);
		assertThat(again.source()).isEqualTo(Source.DENIAL_CACHE);
		assertThat(again.retryAfter()).isEmpty();
	}

	@Test
	void requestsOfPoliciesThatCountDeniedRequestsReachTheStore() {
		Policy strict = POLICY.withCountDenied(true);
		for (int i = 0; i < 10; i++) {
			assertThat(this.limiter.tryAcquire(strict, ALICE).source()).isEqualTo(Source.STORE);
		}
		assertThat(this.store.calls).isEqualTo(10);
		Policy other = Policy.of("other", new SlidingLog(), Limit.parse("1/m"));
		this.limiter.tryAcquire(other, ALICE);
		this.limiter.tryAcquire(other, ALICE);
		assertThat(this.limiter.tryAcquire(other, ALICE).source()).isEqualTo(Source.DENIAL_CACHE);
		assertThat(this.limiter.tryAcquire(RateLimitRequest.of(Charge.of(strict, ALICE), Charge.of(other, ALICE)))
			.source()).isEqualTo(Source.STORE);
	}

	@Test
	void decisionsThatAreNotTheStoresAreNotRemembered() {
		for (Source source : Source.values()) {
			Decision decision = new Decision(false,
					List.of(LimitStatus.ofMicros(POLICY, ALICE, POLICY.limits().get(0), 0, 1000, 1000, true)), null,
					source);
			RateLimiter other = newCache(Duration.ofDays(1), 10).cache(new AnsweringStore(decision));
			other.tryAcquire(REQUEST);
			assertThat(other.tryAcquire(REQUEST).source())
				.isEqualTo((source == Source.STORE) ? Source.DENIAL_CACHE : source);
		}
	}

	@Test
	void noMoreIsRememberedThanTheMaximumSize() {
		RateLimiter small = newCache(Duration.ofDays(1), 10).cache(this.store);
		Policy none = Policy.of("none", new SlidingLog(), Limit.parse("0/m"));
		for (int i = 0; i < 1000; i++) {
			small.tryAcquire(none, Identifier.user("user" + i));
		}
		int before = this.store.calls;
		for (int i = 0; i < 1000; i++) {
			small.tryAcquire(none, Identifier.user("user" + i));
		}
		assertThat(this.store.calls - before).isBetween(990, 1000);
	}

	@Test
	void peekTellsOfTheDecisionThatARequestGets() {
		exhaust();
		assertThat(this.limiter.peek(REQUEST)).isEqualTo(this.limiter.tryAcquire(REQUEST));
		assertThat(this.limiter.peek(REQUEST)).isEqualTo(this.limiter.tryAcquire(REQUEST));
		assertThat(this.limiter.peek(REQUEST).source()).isEqualTo(Source.DENIAL_CACHE);
		assertThat(this.store.calls).isEqualTo(3);
		assertThat(this.store.peeks).isEqualTo(1);
		assertThat(this.limiter.peek(RateLimitRequest.of(POLICY, ADDRESS)).allowed()).isTrue();
		assertThat(this.cache.watchCounts(this.store).peek(REQUEST).source()).isEqualTo(Source.STORE);
	}

	@ParameterizedTest
	@ValueSource(strings = { "PT0S", "PT-1S", "PT0.000999S", "PT87600H0.001S" })
	void maximumAgeOutOfRangeIsRefused(Duration maxAge) {
		assertThatIllegalArgumentException().isThrownBy(() -> new DenialCache(maxAge, 1))
			.withMessage("Invalid maximum age (%s): must be from 1ms to 3650d.".formatted(maxAge));
	}

	@Test
	void maximumSizeBelowOneIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> new DenialCache(Duration.ofSeconds(1), 0))
			.withMessage("Invalid maximum size (0): must be at least 1.");
	}

	private record AnsweringStore(Decision decision) implements RateLimiter {

		@Override
		public Decision tryAcquire(RateLimitRequest request) {
			return this.decision;
		}

		@Override
		public Decision peek(RateLimitRequest request) {
			return this.decision;
		}

		@Override
		public void refund(RateLimitRequest request) {
		}

		@Override
		public void charge(RateLimitRequest request) {
		}

		@Override
		public void reset(Policy policy, Identifier identifier) {
		}

	}

}
