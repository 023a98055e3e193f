package io.github.ratelimit.benchmarks;

import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.benchmarks.Measurement.Cost;

/**
 * The server time of a decision with each algorithm, with one limit and with three,
 * allowed and denied, compared to a plain {@code INCR} and a handwritten script.
 */
final class DecisionCost {

	private static final int ROUNDS = 31;

	private static final int CALLS = 500;

	/** Chosen so that each has used eight of its quota at the end. */
	private static final int IDENTIFIERS = 2000;

	private static final int DENIED_IDENTIFIERS = 100;

	private static final int USED = 10;

	private static final Limit[] ONE = limits("100/m");

	private static final Limit[] THREE = limits("100/m", "1000/h", "10000/d");

	private static final Limit[] ONE_USED_UP = limits(USED + "/7d");

	private static final Limit[] THREE_USED_UP = limits(USED + "/7d", "1000/14d", "10000/21d");

	private final MeasuredRedis redis;

	private final RateLimiter limiter;

	DecisionCost(MeasuredRedis redis, OurLimiters limiters) {
		this.redis = redis;
		this.limiter = limiters.scripts();
	}

	/**
	 * Measures all algorithms.
	 * @return a table of the costs
	 */
	MarkdownTable measure() {
		List<Subject> subjects = new ArrayList<>();
		subjects.add(increment());
		for (Algorithm algorithm : Algorithms.all()) {
			subjects.add(handwritten(algorithm));
			subjects.add(allowed(algorithm, ONE));
			subjects.add(denied(algorithm, ONE_USED_UP));
			subjects.add(allowed(algorithm, THREE));
			subjects.add(denied(algorithm, THREE_USED_UP));
		}
		List<Cost> costs = new Measurement(this.redis, ROUNDS, CALLS).run(subjects);
		MarkdownTable table = new MarkdownTable("algorithm", "limits", "commands, allowed", "commands, denied",
				"µs, allowed", "µs, denied", "× `INCR`", "by hand, µs", "× by hand");
		double increment = costs.get(0).micros();
		table.add("plain `INCR`", "", "", "", increment, "", 1.0, "", "");
		int s = 1;
		for (Algorithm algorithm : Algorithms.all()) {
			double hand = costs.get(s).micros();
			row(table, algorithm, 1, costs.subList(s + 1, s + 3), increment, hand);
			row(table, algorithm, 3, costs.subList(s + 3, s + 5), increment, 3 * hand);
			s += 5;
		}
		return table;
	}

	private static void row(MarkdownTable table, Algorithm algorithm, int limits, List<Cost> costs, double increment,
			double hand) {
		Cost allowed = costs.get(0);
		Cost denied = costs.get(1);
		table.add('`' + algorithm.name() + '`', limits, "1 + " + Math.round(allowed.commands()),
				"1 + " + Math.round(denied.commands()), allowed.micros(), denied.micros(), allowed.micros() / increment,
				hand, allowed.micros() / hand);
	}

	private Subject increment() {
		return new Subject("incr",
				(i) -> this.redis.client().incr(MeasuredRedis.KEY_PREFIX + ":incr:" + i % IDENTIFIERS));
	}

	private Subject handwritten(Algorithm algorithm) {
		HandwrittenScript script = HandwrittenScript.of(algorithm.name(), this.redis.client());
		Limit limit = ONE[0];
		return new Subject("evalsha",
				(i) -> require(script.run(algorithm.name() + i % IDENTIFIERS, limit.quota(), limit.windowMicros()),
						true));
	}

	private Subject allowed(Algorithm algorithm, Limit... limits) {
		Policy policy = Policy.of("api", algorithm, limits);
		loadScript(policy);
		return new Subject("evalsha",
				(i) -> require(this.limiter.tryAcquire(policy, user(i % IDENTIFIERS)).allowed(), true));
	}

	private Subject denied(Algorithm algorithm, Limit... limits) {
		Policy policy = Policy.of("used-up", algorithm, limits);
		for (int u = 0; u < DENIED_IDENTIFIERS * USED; u++) {
			require(this.limiter.tryAcquire(policy, user(u % DENIED_IDENTIFIERS)).allowed(), true);
		}
		return new Subject("evalsha",
				(i) -> require(this.limiter.tryAcquire(policy, user(i % DENIED_IDENTIFIERS)).allowed(), false));
	}

	/** Loads the script, because its first call is a different command. */
	private void loadScript(Policy policy) {
		this.limiter.peek(RateLimitRequest.of(policy, user(0)));
	}

	private static Identifier user(int number) {
		return Identifier.user(Integer.toString(number));
	}

	private static Limit[] limits(String... limits) {
		return List.of(limits).stream().map(Limit::parse).toArray(Limit[]::new);
	}

	private static void require(boolean allowed, boolean expected) {
		if (allowed != expected) {
			throw new IllegalStateException(
					"A request was unexpectedly %s: measure again, with no other clients on the server."
						.formatted(allowed ? "allowed" : "denied"));
		}
	}

}
