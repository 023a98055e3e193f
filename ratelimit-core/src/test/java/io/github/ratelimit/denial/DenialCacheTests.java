package io.github.ratelimit.denial;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.RateLimiterContract;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class DenialCacheTests {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Identifier ADDRESS = Identifier.ip("203.0.113.7");

	private static final Policy POLICY = Policy.of("api", new SlidingLog(), Limit.parse("2/m"), Limit.parse("100/h"));

	private static final RateLimitRequest REQUEST = RateLimitRequest.of(POLICY, ALICE);

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:00Z");

	private final MemoryRateLimiter memory = new MemoryRateLimiter(this.clock);

	private final CountingStore store = new CountingStore(this.memory);

	private final DenialCache cache = newCache(Duration.ofDays(1), 1000);

	private final RateLimiter limiter = this.cache.cache(this.store);

	private final BlockList blocks = this.cache.watchBlocks(this.memory);

	private DenialCache newCache(Duration maxAge, long maxSize) {
		return newCache(maxAge, maxSize, 16);
	}

	private DenialCache newCache(Duration maxAge, long maxSize, int maxQuestions) {
		return new DenialCache(maxAge, maxSize, maxQuestions,
				() -> ChronoUnit.NANOS.between(Instant.EPOCH, this.clock.instant()));
	}

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
	void waitingTimeIsThatOfTheWholeRequestIfOnlyAPartIsKnown() {
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
	void whoseOtherLimitAllowsTheRequestIsToldOfTheOneThatDoesNot() {
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
	void storeIsAskedOnlyNowAndThenAboutThoseWhoChangeTheirOtherIdentifiers() {
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
	void manyCostsAreRemembered() {
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
	void storeIsAskedOnlyNowAndThenAboutLargerCosts() {
		Policy wide = Policy.of("wide", new SlidingLog(), Limit.parse("10000/m"));
		this.limiter.tryAcquire(wide, ALICE, 9000);
		int calls = this.store.calls;
		for (int cost = 1001; cost < 10_000; cost++) {
			assertThat(this.limiter.tryAcquire(wide, ALICE, cost).retryAfter()).contains(Duration.ofMinutes(1));
		}
		assertThat(this.store.calls).isEqualTo(calls + 17);
		assertThat(this.limiter.tryAcquire(wide, ALICE, 10_001).retryAfter()).isEmpty();
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
	void denialThatWasOvertakenByAUseThatIsGivenBackIsNotRemembered() {
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
	void denialIsNotToldOfExactlyAfterARefundFromAnEstimate() {
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
	void whatWasUsedAtAnotherQuotaOfABurstEndsWhatIsKnown() {
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
	void blockIsRememberedWhateverTheCost() {
		this.blocks.block(ALICE, null, Duration.ofHours(1), "");
		for (int cost = 0; cost < 1000; cost++) {
			assertThat(this.limiter.tryAcquire(POLICY, ALICE, cost).blockedFor()).isEqualTo(Duration.ofHours(1));
		}
		assertThat(this.store.calls).isLessThan(20);
		assertThat(this.limiter.tryAcquire(POLICY, ADDRESS, 0).allowed()).isTrue();
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
	void costThatIsNeverAllowedIsRemembered() {
		RateLimitRequest never = RateLimitRequest.of(Charge.of(POLICY, ALICE).withCost(3));
		assertThat(this.limiter.tryAcquire(never).retryAfter()).isEmpty();
		Decision again = this.limiter.tryAcquire(never);
		assertThat(again.source()).isEqualTo(Source.DENIAL_CACHE);
		assertThat(again.retryAfter()).isEmpty();
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
	void whoIsBlockedAfterADenialIsToldSo() {
		exhaust();
		this.limiter.tryAcquire(REQUEST);
		this.blocks.block(ALICE, null, Duration.ofHours(1), "");
		assertThat(this.limiter.tryAcquire(REQUEST).blockedFor()).isEqualTo(Duration.ofHours(1));
		assertThat(this.blocks.blocks()).hasSize(1);
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
					List.of(LimitStatus.ofMicros(POLICY, ALICE, POLICY.limits().get(0), 0, 1000, 1000)), null, source);
			RateLimiter other = newCache(Duration.ofDays(1), 10).cache(new AnsweringStore(decision));
			other.tryAcquire(REQUEST);
			assertThat(other.tryAcquire(REQUEST).source())
				.isEqualTo((source == Source.STORE) ? Source.DENIAL_CACHE : source);
		}
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

	static Stream<Algorithm> algorithms() {
		return RateLimiterContract.algorithms();
	}

	/**
	 * Whatever is done, and in whatever order, the same is allowed as without the cache,
	 * and who is denied is told to wait as long.
	 */
	@ParameterizedTest
	@MethodSource("algorithms")
	void decisionsAreThoseOfTheStore(Algorithm algorithm) {
		Random random = new Random(42);
		DenialCache curious = newCache(Duration.ofDays(1), 1000, Integer.MAX_VALUE);
		RateLimiter limiter = curious.cache(this.memory);
		BlockList blocks = curious.watchBlocks(this.memory);
		MemoryRateLimiter plain = new MemoryRateLimiter(this.clock);
		Policy[] policies = { Policy.of("one", algorithm, Limit.parse("5/s"), Limit.parse("20/m")),
				Policy.of("one", algorithm, Limit.parse("6/s"), Limit.parse("20/m")),
				Policy.of("two", algorithm, Limit.parse("3/s")),
				Policy.of("strict", algorithm, Limit.parse("9/s")).withCountDenied(true) };
		Identifier[] identifiers = { ALICE, ADDRESS };
		int cached = 0;
		for (int i = 0; i < 20_000; i++) {
			Policy policy = policies[random.nextInt(4)];
			Identifier identifier = identifiers[random.nextInt(2)];
			Charge charge = Charge.of(policy, identifier).withCost(random.nextInt(7));
			RateLimitRequest request = (random.nextInt(3) > 0 || policy == policies[2]) ? RateLimitRequest.of(charge)
					: RateLimitRequest.of(charge, Charge.of(policies[2], identifiers).withCost(random.nextInt(3)));
			switch (random.nextInt(20)) {
				case 0 -> {
					plain.refund(request);
					limiter.refund(request);
				}
				case 1 -> {
					plain.reset(policy, identifier);
					limiter.reset(policy, identifier);
				}
				case 2 -> {
					plain.charge(request);
					limiter.charge(request);
				}
				case 3 -> {
					Duration time = Duration.ofMillis(1 + random.nextInt(500));
					plain.block(identifier, "two", time, "");
					blocks.block(identifier, "two", time, "");
				}
				case 4 -> this.clock.advance(Duration.of(random.nextInt(400_000), ChronoUnit.MICROS));
				default -> {
					Decision expected = plain.tryAcquire(request);
					Decision decision = limiter.tryAcquire(request);
					assertThat(decision.allowed()).isEqualTo(expected.allowed());
					assertThat(decision.retryAfter()).isEqualTo(expected.retryAfter());
					assertThat(decision.blockedFor()).isEqualTo(expected.blockedFor());
					assertThat(decision.violated()).isEqualTo(expected.violated());
					cached += (decision.source() == Source.DENIAL_CACHE) ? 1 : 0;
				}
			}
		}
		assertThat(cached).isGreaterThan(500);
	}

	/** Everything is given back in the end, so that nothing may still be denied. */
	@RepeatedTest(20)
	void nothingIsDeniedBecauseOfWhatOthersHaveGivenBack() {
		RateLimitRequest[] requests = { REQUEST, RateLimitRequest.of(Charge.of(POLICY, ALICE).withCost(2)),
				RateLimitRequest.of(POLICY, ALICE, ADDRESS) };
		IntStream.range(0, 8).parallel().forEach((thread) -> {
			Random random = new Random(thread);
			for (int i = 0; i < 500; i++) {
				RateLimitRequest request = requests[random.nextInt(3)];
				if (this.limiter.tryAcquire(request).allowed()) {
					Thread.yield();
					this.limiter.refund(request);
				}
			}
		});
		for (RateLimitRequest request : requests) {
			assertThat(this.limiter.tryAcquire(request).allowed()).isTrue();
			this.limiter.refund(request);
		}
	}

	private void exhaust() {
		this.limiter.tryAcquire(REQUEST);
		this.limiter.tryAcquire(REQUEST);
	}

	/** Counts decisions, and lets something happen between a decision and its answer. */
	private static final class CountingStore implements RateLimiter {

		private final RateLimiter store;

		private Runnable meanwhile = () -> {
		};

		private int calls;

		private int peeks;

		CountingStore(RateLimiter store) {
			this.store = store;
		}

		@Override
		public Decision tryAcquire(RateLimitRequest request) {
			this.calls++;
			Decision decision = this.store.tryAcquire(request);
			Runnable once = this.meanwhile;
			this.meanwhile = () -> {
			};
			once.run();
			return decision;
		}

		@Override
		public Decision peek(RateLimitRequest request) {
			this.peeks++;
			return this.store.peek(request);
		}

		@Override
		public void refund(RateLimitRequest request) {
			this.store.refund(request);
		}

		@Override
		public void charge(RateLimitRequest request) {
			this.store.charge(request);
		}

		@Override
		public void reset(Policy policy, Identifier identifier) {
			this.store.reset(policy, identifier);
		}

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
