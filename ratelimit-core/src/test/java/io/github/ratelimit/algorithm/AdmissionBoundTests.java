package io.github.ratelimit.algorithm;

import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
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
import io.github.ratelimit.algorithm.SlidingWindowCounter.Rounding;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.RateLimiterContract;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The admission bound that the Javadoc of each algorithm states: no traffic gets more out
 * of it, and some traffic gets that much.
 */
class AdmissionBoundTests {

	private static final int SEQUENCES = 3000;

	private static final int REQUESTS = 80;

	private static final Identifier ALICE = Identifier.user("alice");

	private static final List<String> WINDOWS = List.of("ms", "7ms", "s", "13s", "m", "90m");

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:20.123456Z");

	private final RateLimiter limiter = new MemoryRateLimiter(this.clock);

	/** Each algorithm with what its bound is in quotas. */
	static Stream<Arguments> bounds() {
		return Stream.of(Arguments.of(new FixedWindow(), 2), Arguments.of(new FirstRequestWindow(), 2),
				Arguments.of(new SlidingLog(), 1), Arguments.of(new SlidingWindow(), 1),
				Arguments.of(new SlidingWindowCounter(), 2), Arguments.of(new LeakyBucket(), 2),
				Arguments.of(new TokenBucket(), 2));
	}

	@Test
	void everyAlgorithmHasABound() {
		assertThat(bounds().map((arguments) -> (Algorithm) arguments.get()[0]))
			.containsExactlyInAnyOrderElementsOf(RateLimiterContract.algorithms().toList());
	}

	@ParameterizedTest
	@MethodSource("bounds")
	void noTrafficIsAdmittedBeyondTheBound(Algorithm algorithm, int quotas) {
		for (int seed = 0; seed < SEQUENCES; seed++) {
			Traffic traffic = new Traffic(algorithm, seed);
			List<Request> admitted = traffic.send().stream().filter(Request::allowed).toList();
			for (Limit limit : traffic.policy.limits()) {
				assertThat(mostInAnyStretch(admitted, limit.windowMicros()))
					.as("seed %d: most in any %s of %s", seed, limit.windowText(), traffic.policy)
					.isLessThanOrEqualTo(quotas * limit.quota());
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
	 * Each algorithm with times at which as much as possible of a quota of 5 is used, and
	 * how much is admitted in any stretch of so many microseconds.
	 */
	static Stream<Arguments> worstCases() {
		Algorithm day = new FixedWindow(1, ZoneId.of("Europe/Paris"));
		Algorithm log = new SlidingLog();
		Algorithm steps = new SlidingWindow(Duration.ofSeconds(15));
		Algorithm down = new SlidingWindowCounter(1, Rounding.DOWN);
		String edge = "03-01T12:00:59.999999 03-01T12:01:00";
		return Stream.concat(Stream.of(Arguments.of(new FixedWindow(), "m", edge, 2, 10),
				// A day of 23 hours.
				Arguments.of(day, "d", "03-28T22:59:59.999999 03-28T23:00:00 03-29T22:00:00", 86_400_000_000L, 15),
				Arguments.of(log, "m", "03-01T12:00:00 03-01T12:00:59.999999 03-01T12:01:00", 60_000_000, 5),
				Arguments.of(log, "m", "03-01T12:00:00 03-01T12:00:59.999999 03-01T12:01:00", 60_000_001, 10),
				// A window and a sub-window.
				Arguments.of(steps, "m", "03-01T12:00:14.999999 03-01T12:01:14.999999 03-01T12:01:15", 60_000_001, 5),
				Arguments.of(steps, "m", "03-01T12:00:14.999999 03-01T12:01:14.999999 03-01T12:01:15", 60_000_002, 10),
				Arguments.of(new SlidingWindowCounter(0.000001, Rounding.NONE), "m", edge + " 03-01T12:01:59.999999",
						60_000_001, 9),
				Arguments.of(down, "m", "03-01T12:00:59.999999 03-01T12:01:48", 60_000_000, 9),
				Arguments.of(down, "m", "03-01T12:00:59.999999 03-01T12:01:48 03-01T12:01:48.000001", 60_000_000, 10)),
				Stream.of(Rounding.values())
					.map((rounding) -> Arguments.of(new SlidingWindowCounter(0, rounding), "m", edge, 2, 10)));
	}

	@ParameterizedTest
	@MethodSource("worstCases")
	void worstCaseIsAdmittedAndNoMore(Algorithm algorithm, String window, String times, long stretch, long most) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/" + window));
		List<Request> requests = new ArrayList<>();
		for (String time : times.split(" ")) {
			this.clock.set("2026-" + time + "Z");
			sendUntilDenied(policy, requests);
		}
		assertThat(mostInAnyStretch(requests, stretch)).isEqualTo(most);
	}

	@Test
	void firstRequestWindowAdmitsNearlyTwoQuotasAtOnce() {
		Policy policy = Policy.of("api", new FirstRequestWindow(), Limit.parse("5/m"));
		List<Request> requests = new ArrayList<>();
		send(policy, requests);
		this.clock.advance(Duration.ofMinutes(1).minusNanos(1000));
		sendUntilDenied(policy, requests);
		this.clock.advance(Duration.ofNanos(1000));
		sendUntilDenied(policy, requests);
		assertThat(mostInAnyStretch(requests, 2)).isEqualTo(9);
	}

	@Test
	void slidingWindowIsLateByASubWindowAtMost() {
		for (int seed = 0; seed < SEQUENCES; seed++) {
			Traffic traffic = new Traffic(new SlidingWindow(), seed);
			long precision = Math.max(1000, traffic.policy.limits().get(0).windowMicros() / 60_000 * 1000);
			List<Request> admitted = new ArrayList<>();
			for (Request request : traffic.send()) {
				if (request.allowed) {
					admitted.add(request);
				}
				else if (request.retryAt > 0) {
					long exactly = traffic.policy.limits()
						.stream()
						.mapToLong((limit) -> earliest(admitted, request, limit))
						.max()
						.orElseThrow();
					assertThat(request.retryAt).as("seed %d: %s after %s", seed, request, admitted)
						.isBetween(exactly, exactly + precision);
				}
			}
		}
	}

	/** Where there are far more requests than keep their times. */
	@Test
	void slidingWindowAdmitsTheQuotaAtMostOfManyRequests() {
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
				long now = micros(this.clock);
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
		for (int i = admitted.size() - 1; i >= 0 && admitted.get(i).at > now - limit.windowMicros(); i--) {
			room -= admitted.get(i).cost;
			if (room < 0) {
				return admitted.get(i).at + limit.windowMicros();
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
		Policy exact = Policy.of("exact", new SlidingLog(), Limit.parse("20/s"), Limit.parse("256/m"));
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

	/** When a log that is exact would admit the request. */
	private static long earliest(List<Request> admitted, Request request, Limit limit) {
		long at = request.at;
		for (Request before : admitted) {
			if (usedSince(admitted, at - limit.windowMicros() + 1) + request.cost <= limit.quota()) {
				return at;
			}
			at = Math.max(at, before.at + limit.windowMicros());
		}
		return at;
	}

	@Test
	void slidingWindowMayBeLateByASubWindow() {
		Policy policy = Policy.of("api", new SlidingWindow(Duration.ofSeconds(15)), Limit.parse("1/m"));
		List<Request> requests = new ArrayList<>();
		this.clock.set("2026-03-01T12:00:15Z");
		sendUntilDenied(policy, requests);
		this.clock.set("2026-03-01T12:01:15Z");
		assertThat(this.limiter.tryAcquire(policy, ALICE).retryAfter()).contains(Duration.ofSeconds(15));
		this.clock.set("2026-03-01T12:01:29.999999Z");
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isFalse();
		this.clock.set("2026-03-01T12:01:30Z");
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(doubles = { 1, 0.7, 0 })
	void slidingWindowCounterRoundingDownAdmitsTwoQuotasAtMost(double previousWeight) {
		noTrafficIsAdmittedBeyondTheBound(new SlidingWindowCounter(previousWeight, Rounding.DOWN), 2);
	}

	@ParameterizedTest
	@ValueSource(doubles = { 1, 0.7, 0.000001 })
	void slidingWindowCounterAdmitsLessThanTwoQuotas(double previousWeight) {
		for (Rounding rounding : List.of(Rounding.NONE, Rounding.UP)) {
			for (int seed = 0; seed < SEQUENCES; seed++) {
				Traffic traffic = new Traffic(new SlidingWindowCounter(previousWeight, rounding), seed);
				List<Request> admitted = traffic.send().stream().filter(Request::allowed).toList();
				for (Limit limit : traffic.policy.limits()) {
					assertThat(mostInAnyStretch(admitted, limit.windowMicros())).as("seed %d: %s", seed, traffic.policy)
						.isLessThanOrEqualTo(2 * limit.quota() - 1);
				}
			}
		}
	}

	@Test
	void slidingWindowCounterAdmitsNearlyTwoQuotasAroundAnEdge() {
		Policy policy = Policy.of("api", new SlidingWindowCounter(), Limit.parse("5/m"));
		List<Request> requests = new ArrayList<>();
		this.clock.set("2026-03-01T12:00:59.999999Z");
		sendUntilDenied(policy, requests);
		sendAsSoonAsAllowed(policy, requests, Duration.ofMinutes(1));
		assertThat(mostInAnyStretch(requests, 60_000_000)).isEqualTo(9);
	}

	@Test
	void leakyBucketAdmitsAFullBucketAndWhatDrains() {
		Policy policy = Policy.of("api", new LeakyBucket(), Limit.parse("5/m"));
		List<Request> requests = new ArrayList<>();
		sendUntilDenied(policy, requests);
		sendAsSoonAsAllowed(policy, requests, Duration.ofMinutes(1));
		assertThat(mostInAnyStretch(requests, 60_000_000)).isEqualTo(9);
		assertThat(mostInAnyStretch(requests, 60_000_001)).isEqualTo(10);
	}

	@Test
	void leakyBucketKeepsItsBoundWhenTheQuotaChanges() {
		for (int seed = 0; seed < SEQUENCES; seed++) {
			Random random = new Random(seed);
			List<Policy> versions = versions(new LeakyBucket(), random);
			assertThat(mostInAnyMinute(versions, random)).as("seed %d: %s", seed, versions)
				.isLessThanOrEqualTo(2 * largestQuota(versions));
		}
	}

	@Test
	void tokenBucketKeepsItsBoundWhenTheQuotaChanges() {
		for (int seed = 0; seed < SEQUENCES; seed++) {
			Random random = new Random(seed);
			long burst = 1 + random.nextInt(12);
			List<Policy> versions = versions(new TokenBucket(burst), random);
			assertThat(mostInAnyMinute(versions, random)).as("seed %d: %s", seed, versions)
				.isLessThanOrEqualTo(burst + largestQuota(versions));
		}
	}

	@ParameterizedTest
	@ValueSource(longs = { 1, 3, 5, 40 })
	void tokenBucketAdmitsTheBurstAndTheQuota(long burst) {
		Policy policy = Policy.of("api", new TokenBucket(burst), Limit.parse("5/m"));
		List<Request> requests = new ArrayList<>();
		sendUntilDenied(policy, requests);
		assertThat(requests).hasSize((int) burst);
		sendAsSoonAsAllowed(policy, requests, Duration.ofMinutes(3));
		assertThat(mostInAnyStretch(requests, 60_000_000)).isEqualTo(burst + 4);
		assertThat(mostInAnyStretch(requests, 60_000_001)).isEqualTo(burst + 5);
	}

	@ParameterizedTest
	@ValueSource(strings = { "1500000/s", "94906265/s", "7/s", "1/10d", "3/7d", "99991/d", "999983/d" })
	void bucketsAreExactToTheMicrosecondWhateverTheRate(String text) {
		Limit limit = Limit.parse(text);
		Policy policy = Policy.of("api", new TokenBucket(500L), limit);
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

	@Test
	void fixedWindowDeniesOnlyWhatExceedsTheQuota() {
		for (int seed = 0; seed < SEQUENCES; seed++) {
			Traffic traffic = new Traffic(new FixedWindow(), seed);
			List<Request> admitted = new ArrayList<>();
			for (Request request : traffic.send()) {
				boolean fits = traffic.policy.limits().stream().allMatch((limit) -> {
					long start = request.at - request.at % limit.windowMicros();
					return usedSince(admitted, start) + request.cost <= limit.quota();
				});
				assertThat(request.allowed).as("seed %d: %s after %s", seed, request, admitted).isEqualTo(fits);
				if (fits) {
					admitted.add(request);
				}
			}
		}
	}

	@Test
	void slidingLogDeniesOnlyWhatExceedsTheQuota() {
		for (int seed = 0; seed < SEQUENCES; seed++) {
			Traffic traffic = new Traffic(new SlidingLog(), seed);
			List<Request> admitted = new ArrayList<>();
			for (Request request : traffic.send()) {
				boolean fits = traffic.policy.limits().stream().allMatch((limit) -> {
					long start = request.at - limit.windowMicros() + 1;
					return usedSince(admitted, start) + request.cost <= limit.quota();
				});
				assertThat(request.allowed).as("seed %d: %s after %s", seed, request, admitted).isEqualTo(fits);
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

	private static long largestQuota(List<Policy> versions) {
		return versions.stream().mapToLong((policy) -> policy.limits().get(0).quota()).max().orElseThrow();
	}

	/** Most that is admitted of one identifier while the quotas take turns. */
	private long mostInAnyMinute(List<Policy> versions, Random random) {
		this.limiter.reset(versions.get(0), ALICE);
		List<Request> admitted = new ArrayList<>();
		for (int i = 0; i < REQUESTS; i++) {
			Decision decision = this.limiter.tryAcquire(versions.get(random.nextInt(versions.size())), ALICE);
			if (decision.allowed()) {
				admitted.add(new Request(micros(this.clock), 1, true));
			}
			else if (random.nextInt(3) == 0) {
				this.clock.advance(decision.retryAfter().orElseThrow());
			}
		}
		return mostInAnyStretch(admitted, 60_000_000);
	}

	private void send(Policy policy, List<Request> requests) {
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
		requests.add(new Request(micros(this.clock), 1, true));
	}

	private void sendAsSoonAsAllowed(Policy policy, List<Request> requests, Duration time) {
		Instant end = this.clock.instant().plus(time);
		while (!this.clock.instant().isAfter(end)) {
			sendUntilDenied(policy, requests);
			this.clock.advance(this.limiter.peek(RateLimitRequest.of(policy, ALICE)).retryAfter().orElseThrow());
		}
	}

	private void sendUntilDenied(Policy policy, List<Request> requests) {
		for (int i = 0; i < REQUESTS && this.limiter.tryAcquire(policy, ALICE).allowed(); i++) {
			requests.add(new Request(micros(this.clock), 1, true));
		}
	}

	/** Most that was used in any half-open stretch of the length. */
	private static long mostInAnyStretch(List<Request> requests, long length) {
		long most = 0;
		long used = 0;
		Deque<Request> stretch = new ArrayDeque<>();
		for (Request request : requests) {
			stretch.add(request);
			used += request.cost;
			while (request.at - stretch.element().at >= length) {
				used -= stretch.remove().cost;
			}
			most = Math.max(most, used);
		}
		return most;
	}

	private static long usedSince(List<Request> requests, long start) {
		return requests.stream().filter((request) -> request.at >= start).mapToLong(Request::cost).sum();
	}

	private static long micros(ManualClock clock) {
		return ChronoUnit.MICROS.between(Instant.EPOCH, clock.instant());
	}

	/** When it may be sent again is 0 where it never may. */
	private record Request(long at, long cost, boolean allowed, long retryAt) {

		Request(long at, long cost, boolean allowed) {
			this(at, cost, allowed, at);
		}

	}

	/** Random requests, some of which come as early as they may, or a little earlier. */
	private static final class Traffic {

		private final ManualClock clock = new ManualClock("2026-03-01T12:00:20.123456Z");

		private final RateLimiter limiter = new MemoryRateLimiter(this.clock);

		private final Random random;

		private final Policy policy;

		/** For what is charged and given back before each request. */
		private @Nullable Random charges;

		private Traffic(Algorithm algorithm, int seed) {
			this.random = new Random(seed);
			List<Limit> limits = new ArrayList<>();
			for (String window : WINDOWS) {
				if (this.random.nextInt(3) == 0 || (limits.isEmpty() && "90m".equals(window))) {
					limits.add(Limit.parse((1 + this.random.nextInt(8)) + "/" + window));
				}
			}
			this.policy = new Policy("api", algorithm, limits);
		}

		private List<Request> send() {
			boolean weighted = this.random.nextBoolean();
			int haste = this.random.nextInt(4);
			List<Request> requests = new ArrayList<>();
			for (int i = 0; i < REQUESTS; i++) {
				long cost = weighted ? 1 + this.random.nextInt(4) : 1;
				if (this.charges != null) {
					chargeAndRefund(this.charges);
				}
				Decision decision = this.limiter.tryAcquire(this.policy, ALICE, cost);
				long retryAt = decision.retryAfter()
					.map((wait) -> micros(this.clock) + wait.toNanos() / 1000)
					.orElse(0L);
				requests.add(new Request(micros(this.clock), cost, decision.allowed(), retryAt));
				if (!decision.allowed() || this.random.nextInt(4) >= haste) {
					this.clock.advance(pause(decision));
				}
			}
			return requests;
		}

		private void chargeAndRefund(Random charges) {
			long most = this.policy.limits().stream().mapToLong(Limit::quota).max().orElseThrow();
			RateLimitRequest request = RateLimitRequest
				.of(Charge.of(this.policy, ALICE).withCost(charges.nextLong(most + 1)));
			this.limiter.charge(request);
			this.limiter.refund(request);
		}

		private Duration pause(Decision decision) {
			long window = this.policy.limits().get(this.random.nextInt(this.policy.limits().size())).windowMicros();
			long now = micros(this.clock);
			long pause = switch (this.random.nextInt(6)) {
				case 0 -> window - now % window;
				case 1 -> window - now % window - 1;
				case 2 -> window - this.random.nextInt(2);
				case 3 -> this.random.nextLong(2 * window);
				case 4 -> this.random.nextLong(1 + window / 8);
				default -> decision.retryAfter().map((wait) -> wait.toNanos() / 1000).orElse(0L);
			};
			return Duration.of(pause, ChronoUnit.MICROS);
		}

	}

}
