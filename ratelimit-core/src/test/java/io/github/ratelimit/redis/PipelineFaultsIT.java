package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.redis.Batch.Session;
import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.NeedsJedis72;
import io.github.ratelimit.test.TestRedis;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.CommandObject;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What holds without scripts when a process stands still or dies, a Redis key is damaged
 * or evicted, or a client fails.
 */
@NeedsJedis72
class PipelineFaultsIT {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Limit FIVE = Limit.parse("5/3650d");

	private final UnifiedJedis jedis = TestRedis.client();

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final RateLimiter limiter = PipelineRateLimiter.of(this.jedis, this.keyPrefix);

	private final RoundTrips roundTrips = new RoundTrips();

	/** A limiter of which the round trips are known. */
	private final RateLimiter traced = PipelineRateLimiter.of(this.roundTrips.client(), this.keyPrefix);

	@AfterEach
	void close() {
		this.roundTrips.close();
	}

	static Stream<Algorithm> algorithms() {
		return PipelineRateLimiterIT.algorithms();
	}

	static Stream<Algorithm> windowAlgorithms() {
		return algorithms().filter((algorithm) -> !(algorithm instanceof FirstRequestWindow));
	}

	private static Policy policy(Algorithm algorithm) {
		return Policy.of("api", algorithm, FIVE);
	}

	private Tallies tallies(Policy policy, long cost) {
		return new Tallies(request(policy, cost), new RedisKeys(this.keyPrefix),
				Moment.now(InstantSource.system(), false), new PastCounts());
	}

	private static RateLimitRequest request(Policy policy, long cost) {
		return RateLimitRequest.of(Charge.of(policy, ALICE).withCost(cost));
	}

	private static long allowedUntilDenied(RateLimiter limiter, Policy policy) {
		long allowed = 0;
		while (allowed < 100 && limiter.tryAcquire(policy, ALICE).allowed()) {
			allowed++;
		}
		return allowed;
	}

	private Set<String> keys() {
		return this.jedis.keys(this.keyPrefix + ":*");
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void whatWasCountedSinceADamagedKeyWasReplacedIsNotDeleted(Algorithm algorithm) {
		Policy policy = policy(algorithm);
		this.limiter.tryAcquire(policy, ALICE);
		keys().forEach(this::damage);
		Tallies late = tallies(policy, 1);
		try (Session session = new Session(SingleLink.of(this.jedis))) {
			late.beginToCount(session);
			late.end(session);
			assertThat(allowedUntilDenied(this.limiter, policy)).isEqualTo(5);
			assertThat(late.areDamaged()).isTrue();
			late.takeBack(session);
			late.replaceDamaged(session);
		}
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

	/** What was damaged later may have been replaced, and counted in, by others. */
	@ParameterizedTest
	@MethodSource("windowAlgorithms")
	void keyThatWasDamagedAfterItWasCountedInIsNotReplaced(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/1000d"), FIVE);
		this.limiter.tryAcquire(policy, ALICE);
		List<String> keys = List.copyOf(keys());
		damage(keys.get(0));
		// It counts, takes back, looks and deletes.
		this.roundTrips.before(3, () -> damage(keys.get(1)));
		this.roundTrips.before(4, () -> this.jedis.set(keys.get(1), "5"));
		assertThat(this.traced.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void othersMayCountInWhatTheyHaveReplacedThemselves(Algorithm algorithm) {
		Policy policy = policy(algorithm);
		this.limiter.tryAcquire(policy, ALICE);
		damage(keys().iterator().next());
		// It counts, looks, and counts anew.
		this.roundTrips.before(2, () -> this.limiter.tryAcquire(policy, ALICE));
		this.roundTrips.before(3, () -> this.limiter.tryAcquire(policy, ALICE));
		assertThat(this.traced.tryAcquire(policy, ALICE).statuses()).extracting(LimitStatus::remaining)
			.containsExactly(2L);
		assertThat(this.roundTrips.count()).isEqualTo(3);
	}

	/** It looks like a number, but Redis does not count with it. */
	@ParameterizedTest
	@MethodSource("algorithms")
	void numberThatRedisWouldNotWriteIsReplaced(Algorithm algorithm) {
		Policy policy = policy(algorithm);
		this.limiter.tryAcquire(policy, ALICE);
		for (String key : keys()) {
			this.jedis.set(key, "+4");
			assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
		}
	}

	/** Two such numbers are more than there are. */
	@ParameterizedTest
	@MethodSource("windowAlgorithms")
	void countsOfAnotherMakingDoNotOverflow(Algorithm algorithm) {
		ManualClock clock = new ManualClock("2026-03-01T12:00:59.5Z");
		RateLimiter limiter = PipelineRateLimiter.of(this.jedis, this.keyPrefix).withClock(clock);
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		limiter.tryAcquire(policy, ALICE);
		// Somebody is ahead.
		clock.set("2026-03-01T12:01:00Z");
		limiter.tryAcquire(policy, ALICE);
		clock.set("2026-03-01T12:00:59.5Z");
		keys().forEach((key) -> this.jedis.set(key, Long.toString(Long.MAX_VALUE - 10)));
		for (Decision denied : List.of(limiter.peek(request(policy, 1)), limiter.tryAcquire(policy, ALICE))) {
			assertThat(denied.allowed()).isFalse();
			assertThat(denied.statuses()).extracting(LimitStatus::remaining).containsOnly(0L);
		}
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void requestFailsIfOthersDamageARedisKeyAllTheTime(Algorithm algorithm) {
		Policy policy = policy(algorithm);
		this.limiter.tryAcquire(policy, ALICE);
		String key = keys().iterator().next();
		for (ThrowingCallable call : List.<ThrowingCallable>of(() -> this.traced.tryAcquire(policy, ALICE),
				() -> this.traced.charge(request(policy, 1)))) {
			for (int trip = 1; trip <= 1000; trip++) {
				this.roundTrips.before(trip, () -> damage(key));
			}
			assertFailsBecauseOfOthers(call);
			// Counts, and tries a hundred times to look and then to delete.
			assertThat(this.roundTrips.count()).isEqualTo(1 + 2 * 100);
		}
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void requestFailsIfOthersDamageARedisKeyWheneverItWasReplaced(Algorithm algorithm) {
		Policy policy = policy(algorithm);
		// By a clock that runs, a busy machine may be too late to count; but in windows
		// that begin with the first request, which are the server's.
		PipelineRateLimiter limiter = PipelineRateLimiter.of(this.roundTrips.client(), this.keyPrefix);
		limiter = (algorithm instanceof FirstRequestWindow) ? limiter : limiter.withClock(clock("12:00:00"));
		assertFailsIfDamagedWheneverItWasReplaced(limiter, policy);
	}

	private void assertFailsIfDamagedWheneverItWasReplaced(RateLimiter limiter, Policy policy) {
		limiter.tryAcquire(policy, ALICE);
		this.roundTrips.count();
		String key = keys().iterator().next();
		for (int trip : new int[] { 1, 4, 7, 10 }) {
			this.roundTrips.before(trip, () -> damage(key));
		}
		assertFailsBecauseOfOthers(() -> limiter.tryAcquire(policy, ALICE));
		assertThat(this.roundTrips.count()).isEqualTo(9);
	}

	private void damage(String key) {
		this.jedis.del(key);
		this.jedis.lpush(key, "x");
	}

	private static void assertFailsBecauseOfOthers(ThrowingCallable call) {
		assertThatExceptionOfType(StoreException.class).isThrownBy(call)
			.havingRootCause()
			.withMessage("Somebody else keeps writing to the Redis keys");
	}

	/** What it has counted remains held. */
	@Test
	void requestIsDeniedIfOthersWriteToItsWindowAllTheTime() {
		Policy policy = policy(new FirstRequestWindow());
		this.limiter.tryAcquire(policy, ALICE, 3);
		for (int trip = 1; trip <= 1000; trip++) {
			this.roundTrips.before(trip, () -> keys().forEach((key) -> this.jedis.pexpire(key, 1_000_000)));
		}
		assertThat(this.traced.tryAcquire(policy, ALICE, 3).allowed()).isFalse();
		assertThat(this.roundTrips.count()).isEqualTo(1 + 2 * 100);
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

	/**
	 * A process that stands still when it has read its clock, or before Redis listens.
	 */
	@ParameterizedTest
	@MethodSource("windowAlgorithms")
	void requestThatMayHaveBeenCountedTooLateIsCountedAnew(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		RateLimiter limiter = PipelineRateLimiter.of(this.roundTrips.client(), this.keyPrefix)
			.withClock(clock("11:59:59.9", "12:00:00.400001", "12:00:00.5", "12:00:01"));
		assertThat(limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
		assertThat(this.roundTrips.count()).isEqualTo(3);
		// When it would no longer count if it had been counted the first time only.
		ManualClock clock = new ManualClock(
				(algorithm instanceof FixedWindow) ? "2026-03-01T12:00:59Z" : "2026-03-01T12:01:00.5Z");
		RateLimiter later = PipelineRateLimiter.of(this.jedis, this.keyPrefix).withClock(clock);
		assertThat(later.peek(request(policy, 1)).statuses()).extracting(LimitStatus::remaining).containsExactly(4L);
	}

	@ParameterizedTest
	@MethodSource("windowAlgorithms")
	void requestThatIsCountedHalfASecondLateIsOneRoundTrip(Algorithm algorithm) {
		RateLimiter limiter = PipelineRateLimiter.of(this.roundTrips.client(), this.keyPrefix)
			.withClock(clock("11:59:59.9", "12:00:00.4"));
		assertThat(limiter.tryAcquire(policy(algorithm), ALICE).allowed()).isTrue();
		assertThat(this.roundTrips.count()).isEqualTo(1);
	}

	@ParameterizedTest
	@MethodSource("windowAlgorithms")
	void requestThatIsAlwaysCountedTooLateFailsAndIsNotCounted(Algorithm algorithm) {
		Policy policy = policy(algorithm);
		AtomicInteger reads = new AtomicInteger();
		Instant start = Instant.now();
		RateLimiter slow = PipelineRateLimiter.of(this.jedis, this.keyPrefix)
			.withClock(() -> start.plus(Duration.ofMillis(501).multipliedBy(reads.getAndIncrement())));
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> slow.tryAcquire(policy, ALICE))
			.havingRootCause()
			.withMessage("Redis is too slow to count by the time of a request");
		assertThat(allowedUntilDenied(this.limiter, policy)).isEqualTo(5);
		// Nobody is hurt by a denial that comes late.
		assertThat(slow.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

	/** Whether it is allowed or not: it is more than what is left. */
	@ParameterizedTest
	@MethodSource("windowAlgorithms")
	void chargeThatMayHaveBeenCountedTooLateIsCountedAnew(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		ManualClock clock = new ManualClock("2026-03-01T11:59:50Z");
		RateLimiter other = PipelineRateLimiter.of(this.jedis, this.keyPrefix).withClock(clock);
		other.tryAcquire(policy, ALICE, 3);
		PipelineRateLimiter.of(this.roundTrips.client(), this.keyPrefix)
			.withClock(clock("11:59:59.9", "12:00:00.400001", "12:00:00.5", "12:00:01"))
			.charge(request(policy, 4));
		assertThat(this.roundTrips.count()).isEqualTo(3);
		// When it would no longer count if it had been counted the first time only.
		clock.set((algorithm instanceof FixedWindow) ? "2026-03-01T12:00:59Z" : "2026-03-01T12:01:00.5Z");
		assertThat(other.peek(request(policy, 1)).statuses()).extracting(LimitStatus::remaining).containsExactly(1L);
	}

	@ParameterizedTest
	@MethodSource("windowAlgorithms")
	void chargeThatIsAlwaysCountedTooLateFailsAndIsNotMade(Algorithm algorithm) {
		Policy policy = policy(algorithm);
		AtomicInteger reads = new AtomicInteger();
		Instant start = Instant.now();
		RateLimiter slow = PipelineRateLimiter.of(this.jedis, this.keyPrefix)
			.withClock(() -> start.plus(Duration.ofMillis(501).multipliedBy(reads.getAndIncrement())));
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> slow.charge(request(policy, 5)))
			.havingRootCause()
			.withMessage("Redis is too slow to count by the time of a request");
		assertThat(reads).hasValue(6);
		assertThat(allowedUntilDenied(this.limiter, policy)).isEqualTo(5);
	}

	@Test
	void chargeOfFirstRequestDoesNotDependOnWhenItIsCounted() {
		Policy policy = policy(new FirstRequestWindow());
		PipelineRateLimiter.of(this.jedis, this.keyPrefix)
			.withClock(clock("11:59:59.9", "12:00:10"))
			.charge(request(policy, 5));
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

	/** What is counted does not depend on it, and what does is not counted. */
	@ParameterizedTest
	@MethodSource("windowAlgorithms")
	void policyThatIsOnlyLookedAtDoesNotMakeARequestLate(Algorithm algorithm) {
		Policy counted = policy(new FirstRequestWindow());
		Policy looked = Policy.of("looked", algorithm, Limit.parse("5/m"));
		RateLimitRequest request = RateLimitRequest.of(Charge.of(counted, ALICE), Charge.of(looked, ALICE).withCost(0));
		RateLimiter limiter = PipelineRateLimiter.of(this.roundTrips.client(), this.keyPrefix)
			.withClock(clock("11:59:59.9", "12:00:10", "12:00:20", "12:00:30", "12:00:40", "12:00:50"));
		assertThat(limiter.tryAcquire(request).allowed()).isTrue();
		limiter.charge(request);
		assertThat(this.limiter.peek(request(counted, 1)).statuses()).extracting(LimitStatus::remaining)
			.containsExactly(3L);
	}

	@ParameterizedTest
	@MethodSource("windowAlgorithms")
	void requestIsCountedAnewIfOnlySomeOfItDependsOnWhenItIsCounted(Algorithm algorithm) {
		RateLimitRequest request = RateLimitRequest.of(Charge.of(policy(new FirstRequestWindow()), ALICE),
				Charge.of(Policy.of("other", algorithm, Limit.parse("5/m")), ALICE));
		AtomicInteger reads = new AtomicInteger();
		RateLimiter slow = PipelineRateLimiter.of(this.jedis, this.keyPrefix)
			.withClock(() -> Instant.parse("2026-03-01T12:00:00Z").plusMillis(501 * reads.getAndIncrement()));
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> slow.tryAcquire(request));
	}

	@Test
	void windowsOfFirstRequestDoNotDependOnWhenTheyAreCounted() {
		RateLimiter limiter = PipelineRateLimiter.of(this.jedis, this.keyPrefix)
			.withClock(clock("11:59:59.9", "12:00:10"));
		assertThat(limiter.tryAcquire(policy(new FirstRequestWindow()), ALICE).allowed()).isTrue();
	}

	/** Another process remembers the count of the window before in the meantime. */
	@Test
	void requestOfTheWindowBeforeIsNotAllowedAfterItsCountIsSettled() {
		Policy policy = Policy.of("api", new SlidingWindowCounter(), Limit.parse("5/m"));
		ManualClock clock = new ManualClock("2026-03-01T12:00:01Z");
		RateLimiter other = PipelineRateLimiter.of(this.jedis, this.keyPrefix).withClock(clock);
		AtomicInteger reads = new AtomicInteger();
		RateLimiter paused = PipelineRateLimiter.of(this.jedis, this.keyPrefix).withClock(() -> {
			if (reads.getAndIncrement() > 0) {
				return clock.instant();
			}
			assertThat(other.tryAcquire(policy, ALICE).allowed()).isTrue();
			return Instant.parse("2026-03-01T11:59:59.9Z");
		});
		assertThat(paused.tryAcquire(policy, ALICE, 5).allowed()).isFalse();
		assertThat(1 + allowedUntilDenied(other, policy)).isEqualTo(5);
	}

	@Test
	void countOfAWindowBeforeThatWasRememberedByAClockThatWasAheadIsForgotten() {
		Policy policy = Policy.of("api", new SlidingWindowCounter(), Limit.parse("5/m"));
		ManualClock clock = new ManualClock("2026-03-01T12:02:01Z");
		RateLimiter limiter = PipelineRateLimiter.of(this.jedis, this.keyPrefix).withClock(clock);
		limiter.tryAcquire(policy, ALICE);
		clock.set("2026-03-01T12:01:59Z");
		assertThat(limiter.tryAcquire(policy, ALICE, 4).allowed()).isTrue();
		clock.set("2026-03-01T12:02:02Z");
		assertThat(limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

	/** Returns such times, one after the other, and the last from then on. */
	private static InstantSource clock(String... times) {
		AtomicInteger reads = new AtomicInteger();
		return () -> Instant.parse("2026-03-01T" + times[Math.min(reads.getAndIncrement(), times.length - 1)] + "Z");
	}

	/** The bound of a reset: the quota, and what was held when it happened. */
	@ParameterizedTest
	@MethodSource("algorithms")
	void resetGrantsAtMostWhatIsHeldMore(Algorithm algorithm) {
		Policy policy = policy(algorithm);
		this.limiter.tryAcquire(policy, ALICE, 4);
		Tallies held = tallies(policy, 3);
		long allowed;
		try (Session session = new Session(SingleLink.of(this.jedis))) {
			held.beginToCount(session);
			held.end(session);
			this.limiter.reset(policy, ALICE);
			allowed = allowedUntilDenied(this.limiter, policy);
			held.settle(session, held.isAllowed());
		}
		allowed += allowedUntilDenied(this.limiter, policy);
		assertThat(allowed).isEqualTo((algorithm instanceof FirstRequestWindow) ? 5 : 5 + 3);
	}

	@ParameterizedTest
	@MethodSource("windowAlgorithms")
	void resetGrantsNoMoreThanTheQuotaIfNobodyHasCountedSince(Algorithm algorithm) {
		Policy policy = policy(algorithm);
		this.limiter.tryAcquire(policy, ALICE, 4);
		this.roundTrips.before(2, () -> this.limiter.reset(policy, ALICE));
		assertThat(this.traced.tryAcquire(policy, ALICE, 3).allowed()).isFalse();
		// There is nothing to put right.
		assertThat(this.roundTrips.count()).isEqualTo(2);
		assertThat(allowedUntilDenied(this.limiter, policy)).isEqualTo(5);
	}

	/** By what this request has given back, and not by what others put right. */
	@ParameterizedTest
	@CsvSource({ "0, 0", "2, 0", "3, 0", "1, 0", "-5, -5" })
	void countThatFallsBelowNothingIsPutRight(long whenGivenBack, long after) {
		Policy policy = policy(new FixedWindow());
		this.limiter.tryAcquire(policy, ALICE, 4);
		String key = keys().iterator().next();
		this.roundTrips.before(2, () -> this.jedis.set(key, Long.toString(whenGivenBack)));
		assertThat(this.traced.tryAcquire(policy, ALICE, 3).allowed()).isFalse();
		assertThat(this.jedis.get(key)).isEqualTo(Long.toString(after));
		assertThat(this.roundTrips.count()).isEqualTo((whenGivenBack < 3) ? 3 : 2);
	}

	/** Likewise, where nothing is a number that tells the window. */
	@ParameterizedTest
	@CsvSource({ "0, 0", "2, 0", "3, 0", "1, 0", "-5, -5" })
	void countOfFirstRequestThatFallsBelowNothingIsPutRight(long whenGivenBack, long after) {
		Policy policy = policy(new FirstRequestWindow());
		this.limiter.tryAcquire(policy, ALICE, 4);
		String counter = keys().stream().filter((key) -> key.endsWith(":0")).findFirst().orElseThrow();
		String window = keys().stream().filter((key) -> key.endsWith(":1")).findFirst().orElseThrow();
		long nothing = Long.parseLong(this.jedis.get(window));
		// It counts, looks whether the window lasts, and gives back.
		this.roundTrips.before(3, () -> this.jedis.set(counter, Long.toString(nothing + whenGivenBack)));
		assertThat(this.traced.tryAcquire(policy, ALICE, 3).allowed()).isFalse();
		assertThat(Long.parseLong(this.jedis.get(counter)) - nothing).isEqualTo(after);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void countIsPutRightByOthersWhenAProcessDiesThatHasGivenBackTooMuch(Algorithm algorithm) {
		Policy policy = policy(algorithm);
		this.limiter.tryAcquire(policy, ALICE, 4);
		this.roundTrips.before(2, () -> {
			this.limiter.reset(policy, ALICE);
			assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
		});
		this.roundTrips.breakAfter(2);
		assertThat(this.traced.tryAcquire(policy, ALICE, 3).allowed()).isFalse();
		assertThat(allowedUntilDenied(this.limiter, policy))
			.isEqualTo((algorithm instanceof FirstRequestWindow) ? 4 : 5);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void refundsAtTheSameMomentNeverGiveBackMoreThanIsUsed(Algorithm algorithm) {
		Policy policy = policy(algorithm);
		this.limiter.tryAcquire(policy, ALICE, 3);
		AtomicInteger allowed = new AtomicInteger();
		this.roundTrips.before(2, () -> this.limiter.refund(request(policy, 3)));
		this.roundTrips.before(3, () -> allowed.set((int) allowedUntilDenied(this.limiter, policy)));
		this.traced.refund(request(policy, 3));
		assertThat(allowed).hasValueLessThanOrEqualTo(5);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void refundFailsIfOthersCountAllTheTime(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("1000/3650d"));
		this.limiter.tryAcquire(policy, ALICE, 3);
		for (int trip = 2; trip <= 1000; trip += 2) {
			this.roundTrips.before(trip, () -> this.limiter.tryAcquire(policy, ALICE));
		}
		assertFailsBecauseOfOthers(() -> this.traced.refund(request(policy, 3)));
		assertThat(this.limiter.peek(request(policy, 1)).statuses()).extracting(LimitStatus::remaining)
			.containsExactly(1000L - 3 - 100);
	}

	/** The bound of an eviction: another quota for each Redis key. */
	@ParameterizedTest
	@MethodSource("algorithms")
	void evictedKeyGrantsNoMoreThanAnotherQuota(Algorithm algorithm) {
		Policy policy = policy(algorithm);
		assertThat(allowedUntilDenied(this.limiter, policy)).isEqualTo(5);
		for (String key : keys()) {
			this.jedis.del(key);
			assertThat(allowedUntilDenied(this.limiter, policy)).isEqualTo(5);
			assertThat(keys()).allSatisfy((each) -> assertThat(this.jedis.pttl(each)).isPositive());
		}
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void evictedKeyGrantsAtMostWhatIsHeldMore(Algorithm algorithm) {
		Policy policy = policy(algorithm);
		this.limiter.tryAcquire(policy, ALICE, 4);
		for (String key : keys()) {
			Tallies held = tallies(policy, 3);
			long allowed;
			try (Session session = new Session(SingleLink.of(this.jedis))) {
				held.beginToCount(session);
				held.end(session);
				this.jedis.del(key);
				allowed = allowedUntilDenied(this.limiter, policy);
				held.settle(session, held.isAllowed());
			}
			allowed += allowedUntilDenied(this.limiter, policy);
			assertThat(allowed).isBetween(5L, 5L + 3);
			this.limiter.reset(policy, ALICE);
			this.limiter.tryAcquire(policy, ALICE, 4);
		}
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void whatIsGivenBackToAnEvictedKeyExpires(Algorithm algorithm) {
		Policy policy = policy(algorithm);
		this.limiter.tryAcquire(policy, ALICE, 5);
		for (String key : keys()) {
			Tallies tallies = tallies(policy, 3);
			try (Session session = new Session(SingleLink.of(this.jedis))) {
				tallies.beginToCount(session);
				tallies.end(session);
				this.jedis.del(key);
				assertThat(tallies.isAllowed()).isFalse();
				tallies.settle(session, false);
			}
			assertThat(keys()).allSatisfy((each) -> assertThat(this.jedis.pttl(each)).isPositive());
			this.limiter.reset(policy, ALICE);
			this.limiter.tryAcquire(policy, ALICE, 5);
		}
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	@SuppressWarnings("deprecation")
	void whateverAClientThrowsIsAStoreException(Algorithm algorithm) {
		try (UnifiedJedis noPipelines = new UnifiedJedis(connection()) {
			// No more than that, but from Jedis 8 on only what extends it can be created.
		}) {
			assertFails(PipelineRateLimiter.of(noPipelines), policy(algorithm));
		}
		UnifiedJedis closed = JedisClients.create(TestRedis.uri());
		closed.close();
		assertFails(PipelineRateLimiter.of(closed), policy(algorithm));
	}

	/** Such as the one that fails over to another server: it sends again what failed. */
	@Test
	@SuppressWarnings("deprecation")
	void pipelineOfSeveralConnectionsIsNotUsed() {
		try (UnifiedJedis several = new UnifiedJedis(connection()) {

			@Override
			public AbstractPipeline pipelined() {
				return new SeveralConnections();
			}

		}) {
			assertFails(PipelineRateLimiter.of(several), policy(new FixedWindow()));
		}
	}

	private static Connection connection() {
		return new Connection(TestRedis.uri().getHost(), TestRedis.uri().getPort());
	}

	private static void assertFails(RateLimiter limiter, Policy policy) {
		RateLimitRequest request = request(policy, 1);
		assertFails("acquire a request", () -> limiter.tryAcquire(request));
		assertFails("peek at a request", () -> limiter.peek(request));
		assertFails("refund a request", () -> limiter.refund(request));
		assertFails("charge a request", () -> limiter.charge(request));
		assertFails("reset a count of the policy 'api'", () -> limiter.reset(policy, ALICE));
	}

	private static void assertFails(String purpose, ThrowingCallable call) {
		assertThatExceptionOfType(StoreException.class).isThrownBy(call).withMessage("Redis failed to " + purpose);
	}

	private static final class SeveralConnections extends AbstractPipeline {

		private SeveralConnections() {
			super(null);
		}

		@Override
		protected <T> Response<T> appendCommand(CommandObject<T> command) {
			throw new AssertionError("Must not be used");
		}

		@Override
		public void sync() {
		}

		@Override
		public void close() {
		}

	}

}
