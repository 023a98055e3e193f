package io.github.ratelimit.test;

import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
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
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.LeakyBucket;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.algorithm.SlidingWindowCounter.Rounding;
import io.github.ratelimit.algorithm.TokenBucket;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What is true of every algorithm in every store.
 */
public abstract class RateLimiterContract {

	protected static final Identifier ALICE = Identifier.user("alice");

	protected static final Identifier ADDRESS = Identifier.ip("203.0.113.7");

	protected final ManualClock clock = new ManualClock("2026-03-01T12:00:20Z");

	private RateLimiter limiter;

	public static Stream<Algorithm> algorithms() {
		return Stream.of(new FixedWindow(), new FirstRequestWindow(), new SlidingLog(), new SlidingWindow(),
				new SlidingWindowCounter(), new LeakyBucket(), new TokenBucket());
	}

	/** The same algorithms with other options. */
	public static Stream<Algorithm> variants() {
		return Stream.of(new FixedWindow(3, ZoneOffset.UTC), new FixedWindow(2, ZoneId.of("Europe/Paris")),
				new SlidingLog(true), new SlidingWindow(Duration.ofMillis(1)),
				new SlidingWindowCounter(0.3, Rounding.DOWN), new SlidingWindowCounter(1, Rounding.UP),
				new SlidingWindowCounter(0, Rounding.NONE));
	}

	/** A store without any counts. */
	protected abstract RateLimiter newRateLimiter(InstantSource clock);

	/**
	 * What the store supports: all algorithms, unless it says otherwise and hides
	 * {@link #algorithms()} by a method that returns the same.
	 */
	protected Stream<Algorithm> supportedAlgorithms() {
		return algorithms();
	}

	@BeforeEach
	void createRateLimiter() {
		this.limiter = newRateLimiter(this.clock);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void quotaIsAllowedAndNoMore(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("3/m"));
		for (int remaining = 2; remaining >= 0; remaining--) {
			Decision decision = this.limiter.tryAcquire(policy, ALICE);
			assertThat(decision.allowed()).isTrue();
			assertThat(decision.retryAfter()).contains(Duration.ZERO);
			assertThat(decision.violated()).isEmpty();
			assertThat(decision.statuses()).singleElement()
				.extracting(LimitStatus::remaining)
				.isEqualTo((long) remaining);
		}
		Decision decision = this.limiter.tryAcquire(policy, ALICE);
		assertThat(decision.allowed()).isFalse();
		assertThat(decision.violated()).isEqualTo(decision.statuses());
		assertThat(decision.statuses()).singleElement().extracting(LimitStatus::remaining).isEqualTo(0L);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void eachPolicyIdentifierAndLimitHasItsStatus(Algorithm algorithm) {
		Policy api = Policy.of("api", algorithm, Limit.parse("100/h"), Limit.parse("10/s"));
		Policy total = Policy.of("total", algorithm, Limit.parse("7/d"));
		Decision decision = this.limiter.tryAcquire(
				RateLimitRequest.of(Charge.of(api, ADDRESS, ALICE).withCost(2), Charge.of(total, Identifier.GLOBAL)));
		assertThat(decision.statuses())
			.extracting(LimitStatus::policy, LimitStatus::identifier, LimitStatus::limit, LimitStatus::remaining)
			.containsExactly(tuple(api, ADDRESS, "10/s", 8), tuple(api, ADDRESS, "100/h", 98),
					tuple(api, ALICE, "10/s", 8), tuple(api, ALICE, "100/h", 98),
					tuple(total, Identifier.GLOBAL, "7/d", 6));
	}

	private static Tuple tuple(Policy policy, Identifier identifier, String limit, long remaining) {
		return Tuple.tuple(policy, identifier, Limit.parse(limit), remaining);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void deniedRequestUsesNothingOfAnyPolicyIdentifierOrLimit(Algorithm algorithm) {
		Policy wide = Policy.of("wide", algorithm, Limit.parse("100/h"));
		Policy narrow = Policy.of("narrow", algorithm, Limit.parse("1/m"), Limit.parse("50/h"));
		this.limiter.tryAcquire(narrow, ALICE);
		RateLimitRequest request = RateLimitRequest.of(Charge.of(wide, ADDRESS), Charge.of(narrow, ADDRESS, ALICE));
		Decision before = this.limiter.peek(request);
		Decision denied = this.limiter.tryAcquire(request);
		assertThat(denied.allowed()).isFalse();
		assertThat(denied.violated()).singleElement().satisfies((status) -> {
			assertThat(status.policy()).isEqualTo(narrow);
			assertThat(status.identifier()).isEqualTo(ALICE);
			assertThat(status.limit()).isEqualTo(Limit.parse("1/m"));
		});
		assertThat(denied).isEqualTo(before).isEqualTo(this.limiter.peek(request));
		assertThat(remaining(wide, ADDRESS)).containsExactly(100L);
		assertThat(remaining(narrow, ADDRESS)).containsExactly(1L, 50L);
		assertThat(remaining(narrow, ALICE)).containsExactly(0L, 49L);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void retryAfterIsEnoughAndAMicrosecondLessIsNot(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("10/m"), Limit.parse("13/10m"));
		for (int cost : new int[] { 1, 3, 2, 1, 3 }) {
			this.limiter.tryAcquire(policy, ALICE, cost);
			this.clock.advance(Duration.ofNanos(3_333_333_000L));
		}
		for (int cost : new int[] { 3, 5, 10, 1, 9, 10, 2 }) {
			while (this.limiter.tryAcquire(policy, ALICE, cost).allowed()) {
				this.clock.advance(Duration.ofMillis(1));
			}
			Duration retryAfter = this.limiter.peek(request(policy, cost)).retryAfter().orElseThrow();
			assertThat(retryAfter).isPositive();
			this.clock.advance(retryAfter.minusNanos(1000));
			Decision tooEarly = this.limiter.tryAcquire(policy, ALICE, cost);
			assertThat(tooEarly.allowed()).as("cost %d, a microsecond before %s", cost, retryAfter).isFalse();
			assertThat(tooEarly.retryAfter()).contains(Duration.ofNanos(1000));
			this.clock.advance(Duration.ofNanos(1000));
			assertThat(this.limiter.tryAcquire(policy, ALICE, cost).allowed()).as("cost %d after %s", cost, retryAfter)
				.isTrue();
		}
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void resetAfterBringsMoreQuotaAndAMicrosecondLessDoesNot(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		assertThat(status(policy, ALICE).resetAfter()).isZero();
		this.limiter.tryAcquire(policy, ALICE, 2);
		this.clock.advance(Duration.ofSeconds(7));
		this.limiter.tryAcquire(policy, ALICE, 1);
		Duration resetAfter = status(policy, ALICE).resetAfter();
		this.clock.advance(resetAfter.minusNanos(1000));
		assertThat(remaining(policy, ALICE)).containsExactly(2L);
		this.clock.advance(Duration.ofNanos(1000));
		assertThat(status(policy, ALICE).remaining()).isGreaterThan(2);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void costAboveTheQuotaIsDeniedForEverAndLeavesNoTrace(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("3/m"), Limit.parse("100/h"));
		Decision decision = this.limiter.tryAcquire(policy, ALICE, 4);
		assertThat(decision.allowed()).isFalse();
		assertThat(decision.retryAfter()).isEmpty();
		assertThat(decision.violated()).singleElement().satisfies((status) -> {
			assertThat(status.limit()).isEqualTo(Limit.parse("3/m"));
			assertThat(status.retryAfter()).isNull();
		});
		assertThat(remaining(policy, ALICE)).containsExactly(3L, 100L);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void largestCostsDoNotOverflow(Algorithm algorithm) {
		long quota = algorithm.maxQuota();
		Policy policy = Policy.of("api", algorithm, Limit.of(quota, Duration.ofMinutes(1)));
		for (int window = 0; window < 6; window++) {
			assertThat(this.limiter.tryAcquire(policy, ALICE, Long.MAX_VALUE).allowed()).isFalse();
			assertThat(this.limiter.tryAcquire(policy, ALICE, quota - 1).allowed()).isTrue();
			assertThat(this.limiter.tryAcquire(policy, ALICE, quota).allowed()).isFalse();
			assertThat(this.limiter.tryAcquire(policy, ALICE, 1).allowed()).isTrue();
			assertThat(this.limiter.tryAcquire(policy, ALICE, 1).allowed()).isFalse();
			this.clock.advance(Duration.ofMinutes(3));
		}
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void quotaOfZeroDeniesEverything(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("0/m"));
		Decision decision = this.limiter.tryAcquire(policy, ALICE);
		assertThat(decision.allowed()).isFalse();
		assertThat(decision.retryAfter()).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void costOfZeroLooksWithoutTouching(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("2/m"));
		this.limiter.tryAcquire(policy, ALICE, 2);
		Decision decision = this.limiter.tryAcquire(policy, ALICE, 0);
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.statuses()).singleElement().extracting(LimitStatus::remaining).isEqualTo(0L);
		assertThat(this.limiter.tryAcquire(withLimit(policy, "1/m"), ALICE, 0).allowed()).isTrue();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void negativeCostIsRefused(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("2/m"));
		assertThatIllegalArgumentException().isThrownBy(() -> this.limiter.tryAcquire(policy, ALICE, -1))
			.withMessage("Invalid cost (-1): must not be negative.");
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void peekTellsTheDecisionAndUsesNothing(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("3/m"));
		this.limiter.tryAcquire(policy, ALICE, 2);
		for (int i = 0; i < 3; i++) {
			assertThat(this.limiter.peek(request(policy, 1)).allowed()).isTrue();
			assertThat(this.limiter.peek(request(policy, 2)).allowed()).isFalse();
			assertThat(remaining(policy, ALICE)).containsExactly(1L);
		}
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void severalRequestsOfCostOneEqualOneOfTheirSum(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("9/m"), Limit.parse("20/h"));
		for (int i = 0; i < 7; i++) {
			this.limiter.tryAcquire(policy, ALICE);
		}
		this.limiter.tryAcquire(policy, ADDRESS, 7);
		for (int second = 0; second < 70; second++) {
			assertThat(this.limiter.peek(request(policy, 3)).retryAfter())
				.isEqualTo(this.limiter.peek(RateLimitRequest.of(Charge.of(policy, ADDRESS).withCost(3))).retryAfter());
			assertThat(remaining(policy, ALICE)).isEqualTo(remaining(policy, ADDRESS));
			this.clock.advance(Duration.ofSeconds(1));
		}
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void refundGivesBackButNeverMoreThanWasUsed(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("10/m"), Limit.parse("30/h"));
		this.limiter.refund(request(policy, 4));
		assertThat(remaining(policy, ALICE)).containsExactly(10L, 30L);
		this.limiter.tryAcquire(policy, ALICE, 5);
		this.limiter.tryAcquire(policy, ALICE, 3);
		this.limiter.refund(request(policy, 0));
		assertThat(remaining(policy, ALICE)).containsExactly(2L, 22L);
		this.limiter.refund(request(policy, 4));
		assertThat(remaining(policy, ALICE)).containsExactly(6L, 26L);
		this.limiter.refund(request(policy, Long.MAX_VALUE));
		assertThat(remaining(policy, ALICE)).containsExactly(10L, 30L);
		assertThat(this.limiter.tryAcquire(policy, ALICE, 10).allowed()).isTrue();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void refundUndoesTheLastRequestExactly(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("10/m"));
		this.limiter.tryAcquire(policy, ALICE, 2);
		this.clock.advance(Duration.ofSeconds(5));
		Decision before = this.limiter.peek(request(policy, 10));
		this.limiter.tryAcquire(policy, ALICE, 6);
		this.limiter.refund(request(policy, 6));
		assertThat(this.limiter.peek(request(policy, 10))).isEqualTo(before);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void resetForgetsOnePolicyOfOneIdentifier(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		Policy other = Policy.of("other", algorithm, Limit.parse("5/m"));
		this.limiter.tryAcquire(RateLimitRequest.of(Charge.of(policy, ALICE, ADDRESS), Charge.of(other, ALICE)));
		this.limiter.reset(policy, ALICE);
		assertThat(remaining(policy, ALICE)).containsExactly(5L);
		assertThat(remaining(policy, ADDRESS)).containsExactly(4L);
		assertThat(remaining(other, ALICE)).containsExactly(4L);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void changedQuotaTakesEffectOnTheNextRequest(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		this.limiter.tryAcquire(policy, ALICE, 4);
		assertThat(remaining(withLimit(policy, "2/m"), ALICE)).containsExactly(0L);
		assertThat(this.limiter.tryAcquire(withLimit(policy, "4/m"), ALICE).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(withLimit(policy, "50/m"), ALICE, 4).allowed()).isTrue();
		assertThat(remaining(policy, ALICE)).containsExactly(0L);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void changedWindowStartsAfresh(Algorithm algorithm) {
		this.limiter.tryAcquire(Policy.of("api", algorithm, Limit.parse("5/m")), ALICE, 5);
		assertThat(remaining(Policy.of("api", algorithm, Limit.parse("5/2m")), ALICE)).containsExactly(5L);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void changedAlgorithmStartsAfresh(Algorithm algorithm) {
		this.limiter.tryAcquire(Policy.of("api", algorithm, Limit.parse("5/m")), ALICE, 5);
		supportedAlgorithms().filter((other) -> !other.equals(algorithm))
			.forEach((other) -> assertThat(remaining(Policy.of("api", other, Limit.parse("5/m")), ALICE))
				.containsExactly(5L));
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void allQuotaIsBackAfterALongPause(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/s"), Limit.parse("9/h"));
		this.limiter.tryAcquire(policy, ALICE, 5);
		this.clock.advance(Duration.ofDays(400));
		Decision decision = this.limiter.peek(request(policy, 5));
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.statuses()).extracting(LimitStatus::remaining).containsExactly(5L, 9L);
		assertThat(decision.statuses()).extracting(LimitStatus::resetAfter).containsOnly(Duration.ZERO);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	protected void clockThatJumpedAheadLocksNobodyForLongerThanAWindow(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		for (Duration jump : List.of(Duration.ofHours(1), Duration.ofSeconds(61), Duration.ofSeconds(30))) {
			this.clock.advance(jump);
			while (this.limiter.tryAcquire(policy, ALICE).allowed()) {
				this.clock.advance(Duration.ofNanos(1000));
			}
			this.clock.advance(jump.negated());
			Decision denied = this.limiter.tryAcquire(policy, ALICE);
			assertThat(denied.allowed()).as("after %s ahead and back", jump).isFalse();
			assertThat(denied.retryAfter().orElseThrow())
				.isLessThanOrEqualTo(longest(Duration.ofMinutes(1), timeAfterAllQuotaIsUsed(policy)));
			this.clock.advance(denied.retryAfter().orElseThrow());
			assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
			this.clock.advance(Duration.ofMinutes(2));
		}
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	protected void clockThatIsSetBackMintsNoQuota(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"));
		this.clock.set("2026-03-01T12:01:00Z");
		this.limiter.tryAcquire(policy, ALICE, 5);
		for (int step = 0; step < 10; step++) {
			this.clock.advance(Duration.ofMillis(-7));
			assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
		}
		this.clock.set("2026-03-01T12:01:00.001Z");
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

	private Duration timeAfterAllQuotaIsUsed(Policy policy) {
		this.limiter.reset(policy, ADDRESS);
		while (this.limiter.tryAcquire(policy, ADDRESS).allowed()) {
			// until all is used
		}
		return this.limiter.peek(RateLimitRequest.of(policy, ADDRESS)).retryAfter().orElseThrow();
	}

	private static Duration longest(Duration one, Duration other) {
		return (one.compareTo(other) > 0) ? one : other;
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void deniedRequestsCountWhereThePolicySaysSo(Algorithm algorithm) {
		Policy strict = Policy.of("strict", algorithm, Limit.parse("5/m")).withCountDenied(true);
		Policy lenient = Policy.of("lenient", algorithm, Limit.parse("5/m"));
		Policy full = Policy.of("full", algorithm, Limit.parse("1/m"));
		this.limiter.tryAcquire(full, ALICE);
		RateLimitRequest request = RateLimitRequest.of(Charge.of(strict, ALICE), Charge.of(lenient, ALICE),
				Charge.of(full, ALICE));
		assertThat(this.limiter.tryAcquire(request).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(request).allowed()).isFalse();
		assertThat(remaining(strict, ALICE)).containsExactly(3L);
		assertThat(remaining(lenient, ALICE)).containsExactly(5L);
		assertThat(remaining(full, ALICE)).containsExactly(0L);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void retryAfterOfADeniedRequestThatCountedIsEnoughAndAMicrosecondLessIsNot(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m"), Limit.parse("7/10m")).withCountDenied(true);
		for (int i = 0; i < 12; i++) {
			this.limiter.tryAcquire(policy, ALICE);
			this.clock.advance(Duration.ofSeconds(1));
		}
		Decision denied = this.limiter.tryAcquire(policy, ALICE, 2);
		assertThat(denied.allowed()).isFalse();
		this.clock.advance(denied.retryAfter().orElseThrow().minusNanos(1000));
		assertThat(this.limiter.peek(request(policy, 2)).allowed()).isFalse();
		this.clock.advance(Duration.ofNanos(1000));
		assertThat(this.limiter.tryAcquire(policy, ALICE, 2).allowed()).isTrue();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void requestThatCanNeverBeAllowedDoesNotCount(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/m")).withCountDenied(true);
		assertThat(this.limiter.tryAcquire(policy, ALICE, 6).allowed()).isFalse();
		assertThat(remaining(policy, ALICE)).containsExactly(5L);
	}

	protected final List<Long> remaining(Policy policy, Identifier identifier) {
		return this.limiter.peek(RateLimitRequest.of(policy, identifier))
			.statuses()
			.stream()
			.map(LimitStatus::remaining)
			.toList();
	}

	private LimitStatus status(Policy policy, Identifier identifier) {
		return this.limiter.peek(RateLimitRequest.of(policy, identifier)).statuses().get(0);
	}

	private static RateLimitRequest request(Policy policy, long cost) {
		return RateLimitRequest.of(Charge.of(policy, ALICE).withCost(cost));
	}

	private static Policy withLimit(Policy policy, String limit) {
		return Policy.of(policy.name(), policy.algorithm(), Limit.parse(limit));
	}

}
