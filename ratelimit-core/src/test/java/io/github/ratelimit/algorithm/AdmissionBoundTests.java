package io.github.ratelimit.algorithm;

import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.function.LongBinaryOperator;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.SlidingWindowCounter.Rounding;
import io.github.ratelimit.algorithm.Traffic.Request;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.StoreTest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static io.github.ratelimit.algorithm.Traffic.mostInAnyStretch;
import static io.github.ratelimit.algorithm.Traffic.usedSince;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The admission bound that the Javadoc of each algorithm states: no traffic gets more out
 * of it, and some traffic gets that much.
 */
class AdmissionBoundTests extends StoreTest {

	private static final int SEQUENCES = 3000;

	private final RateLimiter limiter = new MemoryRateLimiter(this.clock);

	/** Each algorithm with its bound: so many quotas, less some. */
	static Stream<Arguments> bounds() {
		return Stream.of(Arguments.of(new FixedWindow(), 2, 0), Arguments.of(new FirstRequestWindow(), 2, 0),
				Arguments.of(new SlidingLog(), 1, 0), Arguments.of(new SlidingWindow(), 1, 0),
				Arguments.of(new SlidingWindowCounter(), 2, 1), Arguments.of(new LeakyBucket(), 2, 0),
				Arguments.of(new TokenBucket(), 2, 0));
	}

	static Stream<Arguments> boundsOfEstimates() {
		Stream<Arguments> down = DoubleStream.of(1, 0.7, 0)
			.mapToObj((weight) -> Arguments.of(new SlidingWindowCounter(weight, Rounding.DOWN), 2, 0));
		Stream<Arguments> others = DoubleStream.of(1, 0.7, 0.000001)
			.boxed()
			.flatMap((weight) -> Stream.of(Rounding.NONE, Rounding.UP)
				.map((rounding) -> Arguments.of(new SlidingWindowCounter(weight, rounding), 2, 1)));
		return Stream.concat(down, others);
	}

	@Test
	void everyAlgorithmHasABound() {
		assertThat(bounds().map((arguments) -> (Algorithm) arguments.get()[0]))
			.containsExactlyInAnyOrderElementsOf(RateLimiterContract.algorithms().toList());
	}

	@ParameterizedTest
	@MethodSource({ "bounds", "boundsOfEstimates" })
	void noTrafficIsAdmittedBeyondTheBound(Algorithm algorithm, int quotas, int less) {
		for (int seed = 0; seed < SEQUENCES; seed++) {
			Traffic traffic = new Traffic(algorithm, seed);
			List<Request> admitted = traffic.send().stream().filter(Request::allowed).toList();
			for (Limit limit : traffic.policy.limits()) {
				assertThat(mostInAnyStretch(admitted, limit.windowMicros()))
					.as("seed %d: most in any %s of %s", seed, limit.windowText(), traffic.policy)
					.isLessThanOrEqualTo(quotas * limit.quota() - less);
			}
		}
	}

	/** So that the bound is none of charges that are given back. */
	@ParameterizedTest
	@MethodSource("bounds")
	void chargesThatAreRefundedChangeNoDecision(Algorithm algorithm) {
		for (int seed = 0; seed < SEQUENCES / 10; seed++) {
			Traffic charged = new Traffic(algorithm, seed);
			charged.charges = new Random(seed);
			assertThat(charged.send()).as("seed %d: %s", seed, charged.policy)
				.isEqualTo(new Traffic(algorithm, seed).send());
		}
	}

	/**
	 * Each algorithm with times at which as much as possible of a quota of 5 is used, or
	 * one of it, and how much is admitted in any stretch of so many microseconds.
	 */
	static Stream<Arguments> worstCases() {
		Algorithm day = new FixedWindow(1, ZoneId.of("Europe/Paris"));
		Algorithm steps = new SlidingWindow(Duration.ofSeconds(15));
		Algorithm down = new SlidingWindowCounter(1, Rounding.DOWN);
		Algorithm month = new FixedWindow(1, ZoneId.of("Europe/Berlin"));
		String february = "01-31T22:59:59.999999 01-31T23:00:00 02-28T22:59:59.999999 02-28T23:00:00";
		String edge = "03-01T12:00:59.999999 03-01T12:01:00";
		String log = "03-01T12:00:00 03-01T12:00:59.999999 03-01T12:01:00";
		// From the end of a sub-window, and from its start.
		String end = "03-01T12:00:14.999999 03-01T12:01:14.999999 03-01T12:01:15";
		String start = "03-01T12:00:15 03-01T12:01:15 03-01T12:01:29.999999 03-01T12:01:30";
		Stream<Arguments> cases = Stream.of(Arguments.of(new FixedWindow(), "m", edge, 2, 10),
				// A day of 23 hours.
				Arguments.of(day, "d", "03-28T22:59:59.999999 03-28T23:00:00 03-29T22:00:00", 86_400_000_000L, 15),
				Arguments.of(month, "month", february, Duration.ofDays(28).toNanos() / 1000, 10),
				Arguments.of(month, "month", february, Duration.ofDays(31).toNanos() / 1000, 15),
				Arguments.of(new FirstRequestWindow(), "m", "1*03-01T12:00:00 " + edge, 2, 9),
				Arguments.of(new SlidingLog(), "m", log, 60_000_000, 5),
				Arguments.of(new SlidingLog(), "m", log, 60_000_001, 10), Arguments.of(steps, "m", end, 60_000_001, 5),
				Arguments.of(steps, "m", end, 60_000_002, 10), Arguments.of(steps, "m", start, 75_000_000, 5),
				Arguments.of(steps, "m", start, 75_000_001, 10),
				Arguments.of(new SlidingWindowCounter(0.000001, Rounding.NONE), "m", edge + " 03-01T12:01:59.999999",
						60_000_001, 9),
				Arguments.of(down, "m", "03-01T12:00:59.999999 03-01T12:01:48", 60_000_000, 9),
				Arguments.of(down, "m", "03-01T12:00:59.999999 03-01T12:01:48 03-01T12:01:48.000001", 60_000_000, 10));
		return Stream.concat(cases, Stream.of(Rounding.values())
			.map((rounding) -> Arguments.of(new SlidingWindowCounter(0, rounding), "m", edge, 2, 10)));
	}

	@ParameterizedTest
	@MethodSource("worstCases")
	void worstCaseIsAdmittedAndNoMore(Algorithm algorithm, String window, String times, long stretch, long most) {
		Policy policy = policy(algorithm, "5/" + window);
		List<Request> requests = new ArrayList<>();
		for (String time : times.split(" ")) {
			this.clock.set("2026-" + time.replace("1*", "") + "Z");
			sendUntilDenied(policy, requests, time.startsWith("1*") ? 1 : Traffic.MOST);
		}
		assertThat(mostInAnyStretch(requests, stretch)).isEqualTo(most);
	}

	/**
	 * What is admitted at once, in any minute, and in any that is a microsecond longer.
	 */
	static Stream<Arguments> hasty() {
		return Stream.concat(
				Stream.of(Arguments.of(new SlidingWindowCounter(), 5, 9, 9), Arguments.of(new LeakyBucket(), 5, 9, 10)),
				LongStream.of(1, 3, 5, 40)
					.mapToObj((burst) -> Arguments.of(new TokenBucket(burst), burst, burst + 4, burst + 5)));
	}

	@ParameterizedTest
	@MethodSource("hasty")
	void requestsAsSoonAsAllowedGetTheBound(Algorithm algorithm, long first, long most, long longer) {
		Policy policy = policy(algorithm, "5/m");
		List<Request> requests = new ArrayList<>();
		this.clock.set("2026-03-01T12:00:59.999999Z");
		Instant end = this.clock.instant().plus(Duration.ofMinutes(3));
		sendUntilDenied(policy, requests, Traffic.MOST);
		assertThat(requests).hasSize((int) first);
		while (!this.clock.instant().isAfter(end)) {
			sendUntilDenied(policy, requests, Traffic.MOST);
			this.clock.advance(this.limiter.peek(RateLimitRequest.of(policy, ALICE)).retryAfter().orElseThrow());
		}
		assertThat(mostInAnyStretch(requests, 60_000_000)).isEqualTo(most);
		assertThat(mostInAnyStretch(requests, 60_000_001)).isEqualTo(longer);
	}

	/** Where there are far more requests than keep their times. */
	@Test
	void slidingWindowIsLateByLessThanASubWindow() {
		int merged = 0;
		for (int seed = 0; seed < SEQUENCES / 20; seed++) {
			Random random = new Random(seed);
			List<Limit> limits = new ArrayList<>();
			for (String window : List.of("100ms", "s", "13s", "m", "90m")) {
				if (random.nextInt(3) == 0 || (limits.isEmpty() && "90m".equals(window))) {
					limits.add(Limit.parse((50 + random.nextInt(700)) + "/" + window));
				}
			}
			Policy policy = new Policy("api" + seed, new SlidingWindow(), limits);
			List<Request> admitted = new ArrayList<>();
			for (int i = 0; i < 2000; i++) {
				long cost = 1 + random.nextInt(2) * random.nextInt(5);
				Decision decision = this.limiter.tryAcquire(policy, ALICE, cost);
				long now = Traffic.micros(this.clock);
				for (LimitStatus status : decision.statuses()) {
					long late = decision.allowed() ? 0
							: now + micros(status.retryAfter()) - earliest(admitted, now, cost, status.limit());
					assertThat(late).as("seed %d, request %d: %s", seed, i, status)
						.isBetween(0L, status.limit().windowMicros() / 60 - 1);
					merged += (late > 0) ? 1 : 0;
				}
				if (decision.allowed()) {
					admitted.add(new Request(now, cost, true));
				}
				else if (random.nextInt(3) > 0) {
					this.clock.advance(decision.retryAfter().orElseThrow());
				}
				Limit limit = limits.get(random.nextInt(limits.size()));
				this.clock
					.advance(Duration.ofNanos(1000 * random.nextLong(1 + 4 * limit.windowMicros() / limit.quota())));
			}
			for (Limit limit : limits) {
				assertThat(mostInAnyStretch(admitted, limit.windowMicros()))
					.as("seed %d: %s of %s", seed, limit, policy)
					.isLessThanOrEqualTo(limit.quota());
			}
		}
		assertThat(merged).isGreaterThan(1000);
	}

	/** When a log that is exact would admit a cost. */
	private static long earliest(List<Request> admitted, long now, long cost, Limit limit) {
		long room = limit.quota() - cost;
		for (int i = admitted.size() - 1; i >= 0 && admitted.get(i).at() > now - limit.windowMicros(); i--) {
			room -= admitted.get(i).cost();
			if (room < 0) {
				return admitted.get(i).at() + limit.windowMicros();
			}
		}
		return now;
	}

	private static long micros(@Nullable Duration time) {
		return Objects.requireNonNull(time).toNanos() / 1000;
	}

	/** As many as keep their times. */
	@Test
	void slidingWindowIsExactAtSmallQuotas() {
		Policy exact = policy("exact", new SlidingLog(), "20/s", "256/m");
		Policy policy = new Policy("api", new SlidingWindow(), exact.limits());
		Random random = new Random(1);
		for (int i = 0; i < 20_000; i++) {
			Decision decision = this.limiter.tryAcquire(policy, ALICE);
			Decision exactly = this.limiter.tryAcquire(exact, ALICE);
			assertThat(decision.allowed()).as("request %d", i).isEqualTo(exactly.allowed());
			assertThat(decision.retryAfter()).as("request %d", i).isEqualTo(exactly.retryAfter());
			this.clock.advance(Duration.ofNanos(1000 * random.nextLong(200_000)));
		}
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, 12 })
	void bucketKeepsItsBoundWhenTheQuotaChanges(long mostBurst) {
		for (int seed = 0; seed < SEQUENCES; seed++) {
			Random random = new Random(seed);
			Long burst = (mostBurst > 0) ? 1 + random.nextLong(mostBurst) : null;
			List<Policy> versions = versions((burst != null) ? new TokenBucket(burst) : new LeakyBucket(), random);
			long quota = versions.stream().mapToLong((policy) -> policy.limits().get(0).quota()).max().orElseThrow();
			assertThat(mostInAnyMinute(versions, random)).as("seed %d: %s", seed, versions)
				.isLessThanOrEqualTo(quota + ((burst != null) ? burst : quota));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "1500000/s", "94906265/s", "7/s", "1/10d", "3/7d", "99991/d", "999983/d" })
	void bucketsAreExactToTheMicrosecondWhateverTheRate(String text) {
		Limit limit = Limit.parse(text);
		Policy policy = policy(new TokenBucket(500L), text);
		Instant start = this.clock.instant();
		long used = 0;
		for (int i = 0; i < 300; i++) {
			Decision decision = this.limiter.tryAcquire(policy, ALICE);
			while (decision.allowed()) {
				used++;
				decision = this.limiter.tryAcquire(policy, ALICE);
			}
			this.clock.advance(decision.retryAfter().orElseThrow());
		}
		BigInteger elapsed = BigInteger.valueOf(ChronoUnit.MICROS.between(start, this.clock.instant()));
		BigInteger arrived = elapsed.multiply(BigInteger.valueOf(limit.quota()))
			.divide(BigInteger.valueOf(limit.windowMicros()));
		assertThat(BigInteger
			.valueOf(used - 500 + this.limiter.peek(RateLimitRequest.of(policy, ALICE)).statuses().get(0).remaining()))
			.isEqualTo(arrived);
	}

	/** From when on what was used counts, by the length of a window and a time. */
	static Stream<Arguments> exactAlgorithms() {
		LongBinaryOperator fixed = (window, at) -> at - at % window;
		LongBinaryOperator sliding = (window, at) -> at - window + 1;
		return Stream.of(Arguments.of(new FixedWindow(), fixed), Arguments.of(new SlidingLog(), sliding),
				Arguments.of(new SlidingWindow(), sliding));
	}

	@ParameterizedTest
	@MethodSource("exactAlgorithms")
	void nothingIsDeniedButWhatExceedsTheQuota(Algorithm algorithm, LongBinaryOperator start) {
		for (int seed = 0; seed < SEQUENCES; seed++) {
			Traffic traffic = new Traffic(algorithm, seed);
			List<Request> admitted = new ArrayList<>();
			for (Request request : traffic.send()) {
				boolean fits = traffic.policy.limits()
					.stream()
					.allMatch((limit) -> usedSince(admitted, start.applyAsLong(limit.windowMicros(), request.at()))
							+ request.cost() <= limit.quota());
				assertThat(request.allowed()).as("seed %d: %s after %s", seed, request, admitted).isEqualTo(fits);
				if (fits) {
					admitted.add(request);
				}
			}
		}
	}

	/** One policy with several quotas. */
	private static List<Policy> versions(Algorithm algorithm, Random random) {
		return IntStream.range(0, 3)
			.mapToObj((i) -> Policy.of("api", algorithm, new Limit(1 + random.nextInt(8), Duration.ofMinutes(1))))
			.toList();
	}

	/** Most that is admitted of one identifier while the quotas take turns. */
	private long mostInAnyMinute(List<Policy> versions, Random random) {
		this.limiter.reset(versions.get(0), ALICE);
		List<Request> admitted = new ArrayList<>();
		for (int i = 0; i < Traffic.MOST; i++) {
			Decision decision = this.limiter.tryAcquire(versions.get(random.nextInt(versions.size())), ALICE);
			if (decision.allowed()) {
				admitted.add(new Request(Traffic.micros(this.clock), 1, true));
			}
			else if (random.nextInt(3) == 0) {
				this.clock.advance(decision.retryAfter().orElseThrow());
			}
		}
		return mostInAnyStretch(admitted, 60_000_000);
	}

	private void sendUntilDenied(Policy policy, List<Request> requests, int most) {
		for (int i = 0; i < most && this.limiter.tryAcquire(policy, ALICE).allowed(); i++) {
			requests.add(new Request(Traffic.micros(this.clock), 1, true));
		}
	}

}
