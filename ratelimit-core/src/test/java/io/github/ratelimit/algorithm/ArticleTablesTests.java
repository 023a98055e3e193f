package io.github.ratelimit.algorithm;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.LogEntry;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.RequestHistory;
import io.github.ratelimit.algorithm.SlidingWindowCounter.Rounding;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.ManualClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The examples of the articles that the algorithms come from.
 */
class ArticleTablesTests {

	private static final Identifier USER = Identifier.user("user1");

	private static final Identifier ADDRESS = Identifier.ip("203.0.113.7");

	/** When the requests of the tables of 2018 come, all with 3 per 60 s. */
	private static final List<String> TIMES = List.of("12:00:05", "12:00:15", "12:01:01", "12:01:10", "12:01:40",
			"12:01:50", "12:02:20");

	/** What these tables say, but for that of the leaky bucket. */
	private static final List<Boolean> TABLE = List.of(true, true, true, true, true, false, true);

	private final ManualClock clock = new ManualClock("2018-01-05T12:00:00Z");

	private final RateLimiter limiter = new MemoryRateLimiter(this.clock);

	/**
	 * The tables of "Fixed Window Counters", "Sliding Log", "Sliding Window" and "Leaky
	 * Bucket" (2018), with which requests are denied. In sub-windows of 15 s, the article
	 * forgets a sub-window when its start leaves the window, and so allows the request at
	 * 12:01:10; here it counts until its end leaves, as the bound demands.
	 */
	static Stream<Arguments> tables() {
		Policy steps = policy(new SlidingWindow(Duration.ofSeconds(15)), "3/60s");
		Policy exact = policy(new SlidingWindow(), "3/60s");
		return Stream.of(Arguments.of(policy(new FixedWindow(), "3/60s"), "12:01:50", 2),
				Arguments.of(policy(new SlidingLog(), "3/60s"), "12:01:50", 1), Arguments.of(steps, "12:01:10", 0),
				Arguments.of(steps.withCountDenied(true), "12:01:10 12:01:50", 0), Arguments.of(exact, "12:01:50", 1),
				Arguments.of(exact.withCountDenied(true), "12:01:50", 0),
				Arguments.of(policy(new LeakyBucket(), "3/60s"), "", 1),
				Arguments.of(policy(new TokenBucket(), "3/60s"), "", 1));
	}

	@ParameterizedTest
	@MethodSource("tables")
	void tableOfAnArticleComesOut(Policy policy, String denied, long remaining) {
		List<Boolean> outcomes = outcomes(policy);
		assertThat(TIMES.stream().filter((time) -> !outcomes.get(TIMES.indexOf(time))).collect(Collectors.joining(" ")))
			.isEqualTo(denied);
		assertThat(remaining(policy)).isEqualTo(remaining);
	}

	/** The example of "Rate Limiting with Redis" (DomainTools). */
	@Test
	void domainToolsExampleComesOut() {
		Policy policy = policy(new SlidingLog(), "1/s", "5/m");
		for (String time : new String[] { "12:33:35", "12:33:37", "12:34:14", "12:34:26", "12:34:28" }) {
			assertThat(requestAt(time, policy)).as(time).isTrue();
		}
		setClock("12:34:31");
		Decision denied = this.limiter.tryAcquire(policy, USER);
		assertThat(denied.allowed()).isFalse();
		assertThat(denied.violated()).extracting(LimitStatus::limit).containsExactly(Limit.parse("5/m"));
		assertThat(denied.retryAfter()).contains(Duration.ofSeconds(4));
		assertThat(requestAt("12:34:40", policy)).isTrue();
	}

	/**
	 * The limits of "Introduction to rate limiting with Redis, part 1" (2014), and the
	 * counting bug that it warns of: a client at 100 requests a second gets its 240 an
	 * hour all the same.
	 */
	@Test
	void introductionsHourlyQuotaIsReachedByAClientThatHammers() {
		Policy policy = policy(new FixedWindow(), "10/s", "120/m", "240/h");
		int allowed = 0;
		for (int request = 0; request < 100 * 3600; request++) {
			allowed += this.limiter.tryAcquire(policy, USER).allowed() ? 1 : 0;
			if (request == 100 * 60 - 1) {
				assertThat(allowed).isEqualTo(120);
			}
			this.clock.advance(Duration.ofMillis(10));
		}
		assertThat(allowed).isEqualTo(240);
	}

	/**
	 * The table of "Rate Limiting: Sliding Tail" (2018), which rounds down and counts
	 * denied requests. Of its weighted counts, 2.97 to 4.33, the rest is what remains.
	 */
	@Test
	void slidingTailTableComesOut() {
		Policy policy = policy(new SlidingWindowCounter(1, Rounding.DOWN), "3/60s").withCountDenied(true);
		assertThat(outcomes(policy)).containsExactlyElementsOf(TABLE);
		this.limiter.reset(policy, USER);
		List<Long> remaining = new ArrayList<>();
		for (String time : TIMES) {
			requestAt(time, policy);
			remaining.add(remaining(policy));
		}
		assertThat(remaining).containsExactly(2L, 1L, 1L, 0L, 0L, 0L, 0L);
	}

	/** "If the user sent any more requests before 12:2:31, they would be rejected." */
	@Test
	void slidingTailRejectsRequestsUntilTheTailIsShort() {
		Policy policy = policy(new SlidingWindowCounter(1, Rounding.DOWN), "3/60s").withCountDenied(true);
		outcomes(policy);
		Duration wait = this.limiter.peek(RateLimitRequest.of(policy, USER)).retryAfter().orElseThrow();
		assertThat(this.clock.instant().plus(wait)).isBetween(Instant.parse("2018-01-05T12:02:30Z"),
				Instant.parse("2018-01-05T12:02:31Z"));
	}

	/**
	 * "3 Rate Limiting Patterns with Redis: Single Counter Pattern", whose second begins
	 * with the first request.
	 */
	@Test
	void singleCounterPatternAllowsTenAfterTheFirstRequest() {
		Policy policy = policy(new FirstRequestWindow(), "10/s");
		for (int request = 0; request < 10; request++) {
			assertThat(requestAt("12:00:00.%d".formatted(700 + 20 * request), policy)).isTrue();
		}
		assertThat(requestAt("12:00:01", policy)).isFalse();
		assertThat(requestAt("12:00:01.699999", policy)).isFalse();
		assertThat(requestAt("12:00:01.7", policy)).isTrue();
		assertThat(remaining(policy)).isEqualTo(9);
	}

	/**
	 * "3 Rate Limiting Patterns with Redis: Pattern for storing arbitrary metadata":
	 * which user used up the quota of this address?
	 */
	@Test
	void metadataPatternTellsWhichUserUsedUpTheQuota() {
		Policy policy = policy(new SlidingLog(true), "10/s");
		for (int request = 0; request < 11; request++) {
			String user = (request % 5 == 0) ? "alice" : "mallory";
			assertThat(this.limiter.tryAcquire(RateLimitRequest.of(policy, ADDRESS).withMetadata(user)).allowed())
				.isEqualTo(request < 10);
		}
		List<LogEntry> entries = ((RequestHistory) this.limiter).entries(policy, ADDRESS);
		assertThat(entries.stream().collect(Collectors.groupingBy(LogEntry::metadata, Collectors.counting())))
			.containsOnly(Map.entry("mallory", 8L), Map.entry("alice", 2L));
	}

	/** "3 Rate Limiting Patterns with Redis: Pattern capable of Sliding Window". */
	@Test
	void slidingWindowAggregationAllowsAShortBurst() {
		Policy policy = policy(new SlidingWindow(Duration.ofSeconds(1)), "1000/s", "5000/10s", "7000/15s");
		List<Integer> admitted = new ArrayList<>();
		for (int second = 0; second < 32; second++) {
			int allowed = 0;
			for (int request = 0; request < 1200; request++) {
				allowed += this.limiter.tryAcquire(policy, USER).allowed() ? 1 : 0;
			}
			admitted.add(allowed);
			this.clock.advance(Duration.ofSeconds(1));
		}
		assertThat(admitted.subList(0, 7)).containsExactly(1000, 0, 1000, 0, 1000, 0, 1000);
		assertThat(mostIn(admitted, 1)).isEqualTo(1000);
		assertThat(mostIn(admitted, 10)).isEqualTo(5000);
		assertThat(mostIn(admitted, 15)).isEqualTo(7000);
	}

	private static int mostIn(List<Integer> admitted, int seconds) {
		return IntStream.rangeClosed(0, admitted.size() - seconds)
			.map((from) -> admitted.subList(from, from + seconds).stream().mapToInt(Integer::intValue).sum())
			.max()
			.orElseThrow();
	}

	/** The outcomes of the requests of all tables. */
	private List<Boolean> outcomes(Policy policy) {
		this.limiter.reset(policy, USER);
		return TIMES.stream().map((time) -> requestAt(time, policy)).toList();
	}

	private boolean requestAt(String time, Policy policy) {
		setClock(time);
		return this.limiter.tryAcquire(policy, USER).allowed();
	}

	private long remaining(Policy policy) {
		return this.limiter.tryAcquire(policy, USER, 0).statuses().get(0).remaining();
	}

	private void setClock(String time) {
		this.clock.set("2018-01-05T" + time + "Z");
	}

	private static Policy policy(Algorithm algorithm, String... limits) {
		return new Policy("article", algorithm, Stream.of(limits).map(Limit::parse).toList());
	}

}
