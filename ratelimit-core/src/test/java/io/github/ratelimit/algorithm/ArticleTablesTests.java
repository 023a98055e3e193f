package io.github.ratelimit.algorithm;

import java.time.Duration;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.ManualClock;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The examples of the articles that the algorithms come from.
 */
class ArticleTablesTests {

	private static final Identifier USER = Identifier.user("user1");

	private final ManualClock clock = new ManualClock("2018-01-05T12:00:00Z");

	private final RateLimiter limiter = new MemoryRateLimiter(this.clock);

	/** The table of "Rate Limiting: Fixed Window Counters" (2018). */
	@Test
	void fixedWindowCountersTableComesOut() {
		Policy policy = policy(new FixedWindow(), "3/60s");
		assertThat(requestAt("12:00:05", policy)).isTrue();
		assertThat(requestAt("12:00:15", policy)).isTrue();
		assertThat(requestAt("12:01:01", policy)).isTrue();
		assertThat(requestAt("12:01:10", policy)).isTrue();
		assertThat(requestAt("12:01:40", policy)).isTrue();
		assertThat(requestAt("12:01:50", policy)).isFalse();
		assertThat(requestAt("12:02:20", policy)).isTrue();
		assertThat(remaining(policy)).isEqualTo(2);
	}

	/** What "Rate Limiting: Fixed Window Counters" (2018) says against it. */
	@Test
	void fixedWindowCountersAllowsSixRequestsInTwoSeconds() {
		Policy policy = policy(new FixedWindow(), "3/60s");
		for (String time : new String[] { "12:00:59", "12:01:00" }) {
			for (int i = 0; i < 3; i++) {
				assertThat(requestAt(time, policy)).isTrue();
			}
			assertThat(requestAt(time, policy)).isFalse();
		}
	}

	/**
	 * The table of "Rate Limiting: Sliding Log" (2018). The article adds a rejected
	 * request to its log; here it leaves no trace, and the rows come out the same.
	 */
	@Test
	void slidingLogTableComesOut() {
		Policy policy = policy(new SlidingLog(), "3/60s");
		assertThat(requestAt("12:00:05", policy)).isTrue();
		assertThat(requestAt("12:00:15", policy)).isTrue();
		assertThat(requestAt("12:01:01", policy)).isTrue();
		assertThat(requestAt("12:01:10", policy)).isTrue();
		assertThat(requestAt("12:01:40", policy)).isTrue();
		assertThat(requestAt("12:01:50", policy)).isFalse();
		assertThat(requestAt("12:02:20", policy)).isTrue();
		assertThat(remaining(policy)).isEqualTo(1);
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
