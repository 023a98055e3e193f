package io.github.ratelimit;

import java.time.DayOfWeek;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.github.ratelimit.algorithm.ConcurrentCalls;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter.Rounding;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.RateLimiterContract;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What values cannot be, what the message says, and what they can be at most.
 */
class InvalidValuesTests {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Policy POLICY = policy("10/s");

	private static Policy policy(String... limits) {
		return policy(new FixedWindow(), limits);
	}

	private static Policy policy(Algorithm algorithm, String... limits) {
		return new Policy("api", algorithm, Stream.of(limits).map(Limit::parse).toList());
	}

	private static Policy named(String name) {
		return Policy.of(name, new FixedWindow(), Limit.parse("10/s"));
	}

	private static RateLimitRequest requestOf(int users) {
		return RateLimitRequest
			.of(new Charge(POLICY, IntStream.range(0, users).mapToObj((i) -> Identifier.user("user" + i)).toList(), 1));
	}

	private static Arguments invalid(String message, ThrowingCallable value) {
		return Arguments.of(message, value);
	}

	static Stream<Arguments> requests() {
		Charge charge = Charge.of(POLICY, ALICE);
		return Stream.of(invalid("identifier type (): must not be empty.", () -> new Identifier("", "42")),
				invalid("identifier type (): must not be empty.", () -> Identifier.combine(List.of())),
				invalid("cost (-1): must not be negative.", () -> charge.withCost(-1)),
				invalid("cost (-9223372036854775808): must not be negative.", () -> charge.withCost(Long.MIN_VALUE)),
				invalid("identifiers: there must be at least one for the policy 'api'.", () -> Charge.of(POLICY)),
				invalid("identifiers: there is a duplicate for the policy 'api'.",
						() -> Charge.of(POLICY, ALICE, Identifier.GLOBAL, Identifier.user("alice"))),
				invalid("request: there must be at least one policy to check.", RateLimitRequest::of),
				invalid("request: the policy 'api' is used twice.",
						() -> RateLimitRequest.of(charge, Charge.of(policy(new SlidingLog(), "5/m"), ALICE))),
				invalid("request (257 limits to check, counted for each identifier): there must be at most 256.",
						() -> requestOf(257)),
				invalid("call (281474976710656): must be from 0 to 281474976710655.",
						() -> RateLimitRequest.of(charge).withCall(RateLimitRequest.MAX_CALL + 1)),
				invalid("metadata (257 characters): must be at most 256.",
						() -> RateLimitRequest.of(charge).withMetadata("\uD83D\uDE00".repeat(128) + "x")));
	}

	static Stream<Arguments> limits() {
		Stream<Arguments> quotas = LongStream.of(-1, Limit.MAX_QUOTA + 1)
			.mapToObj((quota) -> invalid("quota (" + quota + "): must be between 0 and 9007199254740991.",
					() -> new Limit(quota, Duration.ofSeconds(1))));
		Stream<Arguments> windows = Stream
			.of(Duration.ZERO, Duration.ofSeconds(-1), Duration.ofNanos(999_999), Duration.ofNanos(1_000_001),
					Duration.ofSeconds(1).plusNanos(500_000), Limit.MAX_WINDOW.plusMillis(1),
					Duration.ofSeconds(Long.MAX_VALUE))
			.map((window) -> invalid("window (" + window + "): must be whole milliseconds, from 1ms to 3650d.",
					() -> new Limit(1, window)));
		Stream<Arguments> calendar = Stream.of(
				invalid("calendar unit (DAYS): must be WEEKS, MONTHS or YEARS.", () -> new Limit(1, ChronoUnit.DAYS)),
				invalid("window (PT720H): must be PT744H for MONTHS.",
						() -> new Limit(1, Duration.ofDays(30), ChronoUnit.MONTHS)));
		return Stream.of(quotas, windows, calendar).flatMap((some) -> some);
	}

	static Stream<Arguments> policies() {
		String[] many = IntStream.rangeClosed(1, 21).mapToObj((i) -> "9/" + i + "s").toArray(String[]::new);
		Stream<Arguments> names = Stream
			.of("", " ", "   ", "\t", "a\n", "a\u0000", "a\u007f", "caf\u00e9", "\ud83d\ude00", "a/b", "x".repeat(129))
			.map((name) -> invalid(
					"policy name (" + name + "): must be 1 to 128 printable ASCII characters other than '/'.",
					() -> named(name)));
		Stream<Arguments> calendar = Stream
			.concat(RateLimiterContract.algorithms().skip(1), Stream.of(new ConcurrentCalls()))
			.map((algorithm) -> invalid("limit (5/month): " + algorithm.name()
					+ " has no calendar windows, only fixed-window does; use that, or a number of days such as 30d.",
					() -> policy(algorithm, "5/month")));
		return Stream.concat(Stream.concat(names, calendar), Stream.of(
				invalid("limits [10/month, 7/month]: there must be only one limit for the window month.",
						() -> policy(new FixedWindow(), "10/month", "7/month")),
				invalid("policy (api): must have at least one limit.", InvalidValuesTests::policy),
				invalid("policy (api): must have at most 20 limits, but has 21.", () -> policy(many)),
				invalid("limits [10/s, 120/m, 7/m]: there must be only one limit for the window m.",
						() -> policy("120/m", "10/s", "7/60s")),
				invalid("limits [5/m, 5/h]: there must be only one for concurrent-calls.",
						() -> policy(new ConcurrentCalls(), "5/m", "5/h")),
				invalid("policy (api): concurrent-calls cannot count denied requests, because they do not run.",
						() -> policy(new ConcurrentCalls(), "5/m").withCountDenied(true)),
				invalid("lease (PT1S): must not be combined with count-denied, because a part that is denied would count.",
						() -> POLICY.withLease(Duration.ofSeconds(1)).withCountDenied(true)),
				invalid("limit (100001/m): the quota must be at most 100000 for sliding-log.",
						() -> policy(new SlidingLog(), "10/s", "100001/m")),
				// Such a log is read whole with each request.
				invalid("limit (1001/m): the quota must be at most 1000 for sliding-log.",
						() -> policy(new SlidingLog(true), "5/s", "1001/m"))));
	}

	static Stream<Arguments> options() {
		List<Arguments> options = new ArrayList<>(List.of(invalid(
				"burst (5): with a burst, a policy must have one limit, but has [1/s, 9/m]; use two policies, or remove the burst.",
				() -> policy(new TokenBucket(5L), "1/s", "9/m")),
				invalid("burst (10): at 1/3650d it would take more than 95 years to refill.",
						() -> policy(new TokenBucket(10L), "1/3650d")),
				invalid("precision (PT2S): must not be longer than the window of 1/s.",
						() -> policy(new SlidingWindow(Duration.ofSeconds(2)), "9/m", "1/s")),
				invalid("precision (PT0.016S): the window of 20000/h would have 225000 sub-windows, more than 10000; set a longer precision.",
						() -> policy(new SlidingWindow(Duration.ofMillis(16)), "10/s", "20000/h")),
				invalid("zone (Asia/Kolkata): has no effect, because no window of [1/h] has whole days.",
						() -> policy(new FixedWindow(1, ZoneId.of("Asia/Kolkata")), "1/h")),
				invalid("first day of the week (SUNDAY): has no effect, because no limit of [1/7d, 1/month] is for a week.",
						() -> policy(new FixedWindow(1, ZoneOffset.UTC, DayOfWeek.SUNDAY), "1/month", "1/7d")),
				invalid("number of counts (0): must be at least 1.",
						() -> new MemoryRateLimiter(InstantSource.system(), 0)),
				invalid("maximum size (0): must be at least 1.", () -> new DenialCache(Duration.ofSeconds(1), 0))));
		for (String maxAge : List.of("PT0S", "PT-1S", "PT0.000999S", "PT87600H0.001S")) {
			options.add(invalid("maximum age (" + maxAge + "): must be from 1ms to 3650d.",
					() -> new DenialCache(Duration.parse(maxAge), 1)));
		}
		for (int retain : new int[] { 0, 1001 }) {
			options.add(invalid("retain (" + retain + "): must be between 1 and 1000 windows.",
					() -> new FixedWindow(retain, ZoneOffset.UTC)));
		}
		for (long burst : new long[] { -1, 0, 94_906_266 }) {
			options.add(
					invalid("burst (" + burst + "): must be from 1 to 94906265 tokens.", () -> new TokenBucket(burst)));
		}
		for (String precision : List.of("PT0S", "PT-1S", "PT0.0005S", "PT0.0015S", "PT87624H")) {
			options.add(invalid("precision (" + precision + "): must be whole milliseconds, at least 1ms.",
					() -> new SlidingWindow(Duration.parse(precision))));
		}
		for (double weight : new double[] { -0.1, 1.1, Double.NaN }) {
			options.add(invalid("previous weight (" + weight + "): must be between 0 and 1.",
					() -> new SlidingWindowCounter(weight, Rounding.NONE)));
		}
		for (double weight : new double[] { 1.0 / 3, 0.1234567, 1e-7, 1 - 1e-9 }) {
			options.add(invalid("previous weight (" + weight + "): must have at most six decimal places.",
					() -> new SlidingWindowCounter(weight, Rounding.NONE)));
		}
		return options.stream();
	}

	@ParameterizedTest
	@MethodSource({ "requests", "limits", "policies", "options" })
	void invalidValueIsRefused(String message, ThrowingCallable value) {
		assertThatIllegalArgumentException().isThrownBy(value).withMessage("Invalid " + message);
	}

	static Stream<ThrowingCallable> lastValid() {
		return Stream.of(() -> Charge.of(POLICY, ALICE).withCost(Long.MAX_VALUE), () -> requestOf(256),
				() -> RateLimitRequest.of(POLICY, ALICE).withCall(RateLimitRequest.MAX_CALL),
				() -> named("x".repeat(128)), () -> named("SearchController.search"), () -> named("~!{}:%\"\\ x "),
				() -> policy(new SlidingLog(), "100000/m"), () -> policy(new SlidingLog(true), "1000/m"),
				() -> policy(new TokenBucket(9L), "1/3650d"),
				() -> policy(new SlidingWindow(Duration.ofMillis(16)), "10/s", "10000/h"),
				() -> policy(new SlidingWindow(), "10/s", "20000/h"),
				() -> policy(IntStream.rangeClosed(1, 20)
					.mapToObj((i) -> "9/" + i + "s")
					.collect(Collectors.joining(" "))
					.split(" ")));
	}

	@ParameterizedTest
	@MethodSource("lastValid")
	void lastValidValueIsAccepted(ThrowingCallable value) {
		assertThatCode(value).doesNotThrowAnyException();
	}

}
