package io.github.ratelimit.replay;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.LeakyBucket;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.replay.Comparison.Client;
import io.github.ratelimit.replay.Log.Request;
import io.github.ratelimit.replay.Spare.Found;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ComparisonTests {

	private static Request request(String client, double second) {
		return new Request((long) (second * 1_000_000), Identifier.ip(client));
	}

	private static List<Policy> policies(String limits, Algorithm... algorithms) {
		return Stream.of(algorithms)
			.map((algorithm) -> new Policy("p", algorithm, Stream.of(limits.split(",")).map(Limit::parse).toList()))
			.toList();
	}

	@Test
	void denialsAreThoseCountedByHand() {
		Comparison comparison = new Comparison(
				policies("2/m,3/h", new SlidingLog(), new FixedWindow(), new LeakyBucket()));
		Stream.of(0, 10, 20, 30, 61, 62).map((second) -> request("a", second)).forEach(comparison::add);
		comparison.add(request("b", 62));
		// The log denies 20, 30 and 62 by 2/m, and 62 also by 3/h; the window 62 by 3/h
		// alone.
		// The bucket denies 20 by 2/m, and 61 and 62 by 3/h.
		assertThat(comparison.results).extracting((result) -> result.denied).containsExactly(3L, 3L, 3L);
		assertThat(comparison.results.get(0).byLimit).containsExactly(3, 1);
		assertThat(comparison.results.get(1).byLimit).containsExactly(2, 1);
		assertThat(comparison.results.get(2).byLimit).containsExactly(1, 2);
		Stream.of(100, 101, 102).map((second) -> request("c", second)).forEach(comparison::add);
		assertThat(comparison.clientsDenied(0, 1)).isEqualTo(2);
		assertThat(comparison.clientsDenied(0, 2)).isEqualTo(1);
		assertThat(comparison.clientsDenied(0, -1)).isEqualTo(2);
		assertThat(comparison.results.get(0).waits.getMinValue()).isEqualTo(30_000);
		Client client = comparison.clients.values().stream().filter((one) -> one.denied > 1).findFirst().orElseThrow();
		assertThat(client.identifier).isEqualTo(Identifier.ip("a"));
		assertThat(client.firstDenied).isEqualTo(Instant.ofEpochSecond(20));
		assertThat(client.lastDenied).isEqualTo(Instant.ofEpochSecond(62));
		assertThat(client.wait).isEqualTo((3600 - 62) * 1_000_000L);
		assertThat(comparison.timeline.periods).containsKey(61L).doesNotContainKey(40L);
		assertThat(comparison.timeline.periods.get(62L)).containsExactly(2, 1, 1, 1);
	}

	@Test
	void timelineKeepsAllCountsInFewPeriods() {
		Timeline timeline = new Timeline(2);
		Random random = new Random(7);
		for (int i = 0; i < 20_000; i++) {
			timeline.add(random.nextLong(1L << (i / 700)), i % 2);
			assertThat(timeline.periods.size()).isLessThanOrEqualTo(Timeline.MOST);
		}
		assertThat(timeline.periods.values().stream().mapToLong((counts) -> counts[0]).sum()).isEqualTo(10_000);
		assertThat(timeline.periods.values().stream().mapToLong((counts) -> counts[1]).sum()).isEqualTo(10_000);
	}

	static Stream<Algorithm> algorithms() {
		return Algorithms.all().stream();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void decisionsAreThoseOfTheStoreInMemory(Algorithm algorithm) {
		for (String limits : List.of("2/s,9/m", "0/s", "30/d", "1/ms,20/h")) {
			Policy policy = policies(limits, algorithm).get(0);
			assertSameDecisions(policy, 9000, 0);
			// So few that neither forgets what may matter again after the clock was set
			// back.
			assertSameDecisions(policy, 1000, 100);
		}
	}

	private static void assertSameDecisions(Policy policy, int requests, int setBackAfter) {
		Random random = new Random(3);
		Comparison comparison = new Comparison(List.of(policy));
		long[] now = new long[1];
		MemoryRateLimiter limiter = new MemoryRateLimiter(() -> Log.time(now[0]));
		long[] byLimit = new long[policy.limits().size()];
		Map<Identifier, Long> longestWaits = new HashMap<>();
		for (int i = 1; i <= requests; i++) {
			long passed = random.nextLong(random.nextLong(9_000_000) + 1);
			now[0] += (setBackAfter > 0 && i % setBackAfter == 0) ? -random.nextLong(now[0]) : passed;
			Request request = new Request(now[0], Identifier.ip("c" + random.nextInt(1 + i % 40)));
			comparison.add(request);
			Decision decision = limiter.tryAcquire(policy, request.client());
			for (int limit = 0; limit < byLimit.length; limit++) {
				byLimit[limit] += decision.statuses().get(limit).violated() ? 1 : 0;
			}
			long wait = decision.retryAfter().orElse(Duration.ZERO).toNanos() / 1000;
			longestWaits.merge(request.client(), wait, Math::max);
			assertThat(comparison.results.get(0).byLimit).containsExactly(byLimit);
		}
		assertThat(comparison.clients.values())
			.allSatisfy((client) -> assertThat(client.wait).isEqualTo(longestWaits.get(client.identifier)));
	}

	static Stream<Algorithm> algorithmsWithWindows() {
		return Algorithms.all().stream().filter((algorithm) -> !algorithm.script().equals("bucket"));
	}

	@ParameterizedTest
	@MethodSource("algorithmsWithWindows")
	void smallestLimitsAreThoseOfBruteForce(Algorithm algorithm) {
		Random random = new Random(1);
		for (int round = 0; round < 30; round++) {
			List<Request> log = log(random);
			List<Limit> windows = List.of(new Limit(7, Duration.ofSeconds(1 + random.nextInt(9))), Limit.parse("1/m"));
			Spare spare = new Spare(algorithm, windows);
			log.forEach(spare::add);
			Found found = spare.find(new BigDecimal("80"), Duration.ofDays(1));
			int allowed = (int) (found.clients() / 5);
			for (int i = 0; i < windows.size(); i++) {
				Limit limit = found.alone().get(i);
				assertThat(denied(algorithm, log, List.of(limit))).hasSizeLessThanOrEqualTo(allowed);
				assertThat(denied(algorithm, log, List.of(new Limit(limit.quota() - 1, limit.window()))))
					.hasSizeGreaterThan(allowed);
			}
			assertThat(denied(algorithm, log, found.together())).hasSizeLessThanOrEqualTo(allowed)
				.hasSize((int) found.denied());
		}
	}

	/** Some clients that come in bursts, by thousandths of seconds. */
	private static List<Request> log(Random random) {
		List<Request> log = new ArrayList<>();
		double now = 0;
		for (int i = 0; i < 400; i++) {
			now += (random.nextInt(20) == 0) ? random.nextInt(40) : random.nextInt(500) / 1000.0;
			log.add(request("c" + (int) Math.pow(random.nextInt(8), 1 + random.nextDouble()), now));
		}
		return log;
	}

	private static Set<Identifier> denied(Algorithm algorithm, List<Request> log, List<Limit> limits) {
		long[] now = new long[1];
		MemoryRateLimiter limiter = new MemoryRateLimiter(() -> Log.time(now[0]));
		Set<Identifier> denied = new HashSet<>();
		for (Request request : log) {
			now[0] = request.micros();
			if (!limiter.tryAcquire(new Policy("p", algorithm, limits), request.client()).allowed()) {
				denied.add(request.client());
			}
		}
		return denied;
	}

	@Test
	void quotaThatCannotBeCountedIsLeftOut() {
		Spare spare = new Spare(new SlidingLog(), List.of(Limit.parse("1/s"), Limit.parse("1/d")));
		for (int i = 0; i <= SlidingLog.MAX_QUOTA; i++) {
			spare.add(request("a", i / 2.0));
		}
		Found found = spare.find(new BigDecimal("100"), Duration.ofDays(1));
		assertThat(found.together()).containsExactly(Limit.parse("2/s"));
		assertThat(found.leftOut()).containsExactly("d (needs too large a quota)");
	}

	@Test
	void windowLongerThanTheLogIsLeftOut() {
		Spare spare = new Spare(new FixedWindow(),
				List.of(Limit.parse("1/month"), Limit.parse("1/year"), Limit.parse("1/3d")));
		Stream.of(0, 1, 31).map((day) -> request("a", Duration.ofDays(day).toSeconds())).forEach(spare::add);
		Found found = spare.find(new BigDecimal("100"), Duration.ofDays(31));
		assertThat(found.alone()).containsExactly(Limit.parse("2/3d"), Limit.parse("2/month"));
		assertThat(found.together()).isEqualTo(found.alone());
		assertThat(found.leftOut()).containsExactly("year (longer than the log)");
		assertThat(spare.find(new BigDecimal("100"), Duration.ZERO).together()).isEmpty();
	}

	@Test
	void bucketsAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> new Spare(new TokenBucket(), List.of(Limit.parse("1/s"))))
			.withMessageStartingWith("Invalid algorithm (token-bucket): ");
	}

}
