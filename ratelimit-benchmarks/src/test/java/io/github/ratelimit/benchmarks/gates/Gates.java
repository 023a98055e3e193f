package io.github.ratelimit.benchmarks.gates;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.algorithm.FixedWindow;

/**
 * The decisions whose cost has an upper bound that does not depend on the machine: those
 * of each algorithm with one limit, and one of three limits and two identifiers.
 */
final class Gates {

	/** Name of the request with three limits and two identifiers. */
	static final String SEVERAL = "3 limits x 2 identifiers";

	private static final int USERS = 20;

	private Gates() {
	}

	/** Policies that nobody uses up, by name. */
	static Map<String, Policy> allowing() {
		return policies("allowing", "1000/7d", "2000/14d", "3000/21d");
	}

	/** Policies that everybody uses up at once, by name. */
	static Map<String, Policy> denying() {
		return policies("denying", "1/7d", "2/14d", "3/21d");
	}

	private static Map<String, Policy> policies(String prefix, String... limits) {
		Map<String, Policy> policies = new LinkedHashMap<>();
		for (Algorithm algorithm : Algorithms.all()) {
			policies.put(algorithm.name(),
					Policy.of(prefix + '-' + algorithm.name(), algorithm, Limit.parse(limits[0])));
		}
		policies.put(SEVERAL, Policy.of(prefix + "-several", new FixedWindow(), Limit.parse(limits[0]),
				Limit.parse(limits[1]), Limit.parse(limits[2])));
		return policies;
	}

	/**
	 * Makes decisions, one after the other.
	 * @param expected whether they are allowed
	 */
	static void decide(RateLimiter limiter, Policy policy, int decisions, boolean expected) {
		for (int i = 0; i < decisions; i++) {
			if (limiter.tryAcquire(request(policy, i)).allowed() != expected) {
				throw new IllegalStateException(
						"Decision %d under %s should %sbe allowed".formatted(i, policy.name(), expected ? "" : "not "));
			}
		}
	}

	/**
	 * Makes allowed decisions, of which many wait at the same time.
	 * @param decisions of each caller
	 */
	static void decideTogether(RateLimiter limiter, Policy policy, int callers, int decisions) {
		CompletableFuture
			.allOf(IntStream.range(0, callers)
				.mapToObj((caller) -> CompletableFuture.runAsync(() -> decide(limiter, policy, decisions, true),
						(task) -> new Thread(task, "caller-" + caller).start()))
				.toArray(CompletableFuture[]::new))
			.join();
	}

	/** Lets every user have one decision, so that those that follow are all alike. */
	static void prepare(RateLimiter limiter, Policy policy) {
		decide(limiter, policy, USERS, true);
	}

	static RateLimitRequest request(Policy policy, int number) {
		String name = "user-" + number % USERS;
		return (policy.limits().size() == 1) ? RateLimitRequest.of(policy, Identifier.user(name))
				: RateLimitRequest.of(policy, Identifier.user(name), new Identifier("device", name));
	}

}
