package io.github.ratelimit.benchmarks.gates;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.benchmarks.CommandStatistics;
import io.github.ratelimit.benchmarks.HandwrittenScript;
import io.github.ratelimit.benchmarks.MeasuredRedis;
import io.github.ratelimit.benchmarks.OurLimiters;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * What a decision costs Redis for an identifier that has made many requests.
 */
class LargeStateIT {

	private static final Logger logger = LoggerFactory.getLogger(LargeStateIT.class);

	private static final Duration WINDOW = Duration.ofDays(7);

	private static final Identifier ALICE = Identifier.user("alice");

	/** In a window: so many that the default algorithm has merged those before. */
	private static final int REQUESTS = 240;

	/** As many as it enters before it merges them. */
	private static final int DECISIONS = 68;

	/** Upper bounds for the default algorithm, in thousands of instructions. */
	private static final long MOST_ALLOWED = 80;

	private static final long MOST_DENIED = 48;

	/** Upper bound for what the default algorithm keeps at any quota, in bytes. */
	private static final long MOST_BYTES = 4 + 12 * (SlidingWindow.MAX_EXACT_ENTRIES + 1);

	/** Requests of the log that is compared, of which the second half is counted. */
	private static final int LOG = 100;

	/** How many times as much the log may cost as a list that is written by hand. */
	private static final double MOST_BESIDE_LIST = 1.3;

	@Test
	void defaultReadsAndWritesOneSmallValueAtLargeQuota() {
		try (MeasuredRedis redis = MeasuredRedis.startOwn();
				OurLimiters limiters = OurLimiters.connect(redis.uri(), Duration.ofMinutes(1))) {
			Requests requests = new Requests(limiters);
			requests.decide(REQUESTS);
			CommandStatistics before = redis.statistics();
			long most = 0;
			for (int i = 0; i < DECISIONS; i++) {
				requests.decide(1);
				most = Math.max(most, bytes(redis.client()));
			}
			CommandStatistics done = redis.statistics().since(before);
			logger.info("sliding-window, {} requests: at most {} bytes", REQUESTS, most);
			assertThat(most).isBetween(MOST_BYTES / 2, MOST_BYTES);
			assertThat(done.command("evalsha").calls()).isEqualTo(DECISIONS);
			assertThat(done.command("mget").calls()).isEqualTo(DECISIONS);
			assertThat(done.command("set").calls()).isEqualTo(DECISIONS);
		}
	}

	private static long bytes(UnifiedJedis client) {
		return client.strlen(client.keys(MeasuredRedis.KEY_PREFIX + ":*").iterator().next());
	}

	@Test
	void manyRequestsCostRedisFewInstructions() throws IOException {
		assumeThat(CountedRedis.isPossible())
			.as("Instructions of Redis are counted on Linux on amd64 with valgrind; the other test has counted commands")
			.isTrue();
		SoftAssertions bounds = new SoftAssertions();
		try (CountedRedis redis = CountedRedis.start();
				OurLimiters limiters = OurLimiters.connect(redis.uri(), Duration.ofMinutes(1))) {
			Requests requests = new Requests(limiters);
			requests.decide(REQUESTS);
			long allowed = count(redis, () -> requests.decide(DECISIONS)) / DECISIONS;
			requests.deny(1);
			long denied = count(redis, () -> requests.deny(DECISIONS)) / DECISIONS;
			logger.info("sliding-window, {} requests: {} instructions of Redis allowed, {} denied", REQUESTS, allowed,
					denied);
			bounds.assertThat(allowed).as("allowed").isLessThanOrEqualTo(MOST_ALLOWED * 1000);
			bounds.assertThat(denied).as("denied").isLessThanOrEqualTo(MOST_DENIED * 1000);
			double log = countLog(redis, limiters.scripts());
			double list = countList(redis);
			logger.info("sliding-log, 50 to 100 requests: {} times the instructions of a list by hand", log / list);
			bounds.assertThat(log / list).as("beside a list").isLessThanOrEqualTo(MOST_BESIDE_LIST);
		}
		bounds.assertAll();
	}

	private static long count(CountedRedis redis, Runnable decisions) {
		redis.instructions();
		decisions.run();
		return redis.instructions();
	}

	private static long countLog(CountedRedis redis, RateLimiter limiter) {
		Policy policy = Policy.of("log", new SlidingLog(), new Limit(LOG, WINDOW));
		Runnable half = () -> {
			for (int i = 0; i < LOG / 2; i++) {
				assertThat(limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
			}
		};
		half.run();
		return count(redis, half);
	}

	private static long countList(CountedRedis redis) {
		HandwrittenScript script = HandwrittenScript.of("sliding-log", redis.client());
		Runnable half = () -> {
			for (int i = 0; i < LOG / 2; i++) {
				assertThat(script.run("alice", LOG, WINDOW.toMillis() * 1000)).isTrue();
			}
		};
		half.run();
		return count(redis, half);
	}

	/** Those of one identifier under the default algorithm, spread over the window. */
	private static final class Requests {

		private static final long LARGE = 1_000_000;

		private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-03-01T12:00:00Z"));

		private final RateLimiter limiter;

		private long used;

		Requests(OurLimiters limiters) {
			this.limiter = limiters.scripts(this.now::get);
		}

		void decide(int number) {
			for (int i = 0; i < number; i++) {
				this.now.updateAndGet((time) -> time.plus(WINDOW.dividedBy(REQUESTS)));
				Decision decision = this.limiter.tryAcquire(policy(LARGE), ALICE);
				assertThat(decision.allowed()).isTrue();
				this.used = LARGE - decision.statuses().get(0).remaining();
			}
		}

		/** By a quota that is used up. */
		void deny(int number) {
			for (int i = 0; i < number; i++) {
				assertThat(this.limiter.tryAcquire(policy(this.used), ALICE).allowed()).isFalse();
			}
		}

		private static Policy policy(long quota) {
			return Policy.of("default", new SlidingWindow(), new Limit(quota, WINDOW));
		}

	}

}
