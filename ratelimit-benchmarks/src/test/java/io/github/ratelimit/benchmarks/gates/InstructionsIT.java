package io.github.ratelimit.benchmarks.gates;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;

import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.benchmarks.HandwrittenScript;
import io.github.ratelimit.benchmarks.OurLimiters;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * How many instructions of the processor a decision costs Redis: all of them, from
 * reading the command to writing the answer. Always the server of the Maven artifact is
 * counted, so that the numbers are the same everywhere.
 */
class InstructionsIT {

	private static final Logger logger = LoggerFactory.getLogger(InstructionsIT.class);

	private static final int DECISIONS = 100;

	/**
	 * Upper bounds for an allowed and a denied decision, in thousands.
	 */
	private static final Map<String, Bound> MOST = Map.of("sliding-log", new Bound(76, 56), "sliding-window",
			new Bound(77, 56), "sliding-window-counter", new Bound(73, 65), "fixed-window", new Bound(61, 49),
			"first-request-window", new Bound(62, 50), "leaky-bucket", new Bound(84, 57), "token-bucket",
			new Bound(83, 57), Gates.SEVERAL, new Bound(107, 83));

	/** Upper bounds for an allowed decision among many callers, in thousands. */
	private static final Map<String, Long> MOST_AMONG_CALLERS = Map.of("fixed-window", 40L, "sliding-log", 52L,
			"sliding-window", 52L);

	private static final int CALLERS = 64;

	@Test
	void decisionCostsRedisFewInstructions() throws IOException {
		assumeThat(CountedRedis.isPossible())
			.as("Instructions of Redis are counted on Linux on amd64 with valgrind; CommandsIT has counted the commands")
			.isTrue();
		assertThat(MOST).containsOnlyKeys(Gates.allowing().keySet());
		SoftAssertions bounds = new SoftAssertions();
		try (CountedRedis redis = CountedRedis.start();
				OurLimiters limiters = OurLimiters.connect(redis.uri(), Duration.ofMinutes(1))) {
			RateLimiter limiter = limiters.scripts();
			MOST.forEach((name, most) -> {
				long allowed = count(redis, limiter, Gates.allowing().get(name), true);
				long denied = count(redis, limiter, Gates.denying().get(name), false);
				logger.info("{}: {} instructions of Redis allowed, {} denied; {} by hand", name, allowed, denied,
						byHand(redis, name));
				bounds.assertThat(allowed).as(name + ", allowed").isLessThanOrEqualTo(most.allowed * 1000);
				bounds.assertThat(denied).as(name + ", denied").isLessThanOrEqualTo(most.denied * 1000);
			});
			MOST_AMONG_CALLERS.forEach((name, most) -> {
				long shared = countAmongCallers(redis, limiter, Gates.allowing().get(name));
				logger.info("{}, {} callers: {} instructions of Redis allowed", name, CALLERS, shared);
				bounds.assertThat(shared).as(name + ", among callers").isLessThanOrEqualTo(most * 1000);
			});
		}
		bounds.assertAll();
	}

	private static long count(CountedRedis redis, RateLimiter limiter, Policy policy, boolean allowed) {
		Gates.prepare(limiter, policy);
		Gates.decide(limiter, policy, 1, allowed);
		redis.instructions();
		Gates.decide(limiter, policy, DECISIONS, allowed);
		return redis.instructions() / DECISIONS;
	}

	/** The first round only makes connections. */
	private static long countAmongCallers(CountedRedis redis, RateLimiter limiter, Policy policy) {
		Gates.decideTogether(limiter, policy, CALLERS, 1);
		redis.instructions();
		Gates.decideTogether(limiter, policy, CALLERS, DECISIONS / 10);
		return redis.instructions() / (CALLERS * (DECISIONS / 10));
	}

	/** For one limit, allowed, as articles write it. */
	private static String byHand(CountedRedis redis, String name) {
		if (name.equals(Gates.SEVERAL)) {
			return "none";
		}
		HandwrittenScript script = HandwrittenScript.of(name, redis.client());
		redis.instructions();
		for (int i = 0; i < DECISIONS; i++) {
			script.run("user-" + i % 20, 100, Duration.ofDays(7).toMillis() * 1000);
		}
		return Long.toString(redis.instructions() / DECISIONS);
	}

	/**
	 * Upper bounds, in thousands of instructions.
	 */
	private record Bound(long allowed, long denied) {

	}

}
