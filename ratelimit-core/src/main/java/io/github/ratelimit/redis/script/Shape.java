package io.github.ratelimit.redis.script;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;

/**
 * All that the script of a request depends on. What is not in here comes with each call.
 *
 * @param handsInTime whether each request says what time it is, instead of the server
 */
record Shape(Operation operation, Scope scope, boolean handsInTime, List<OfPolicy> policies,
		List<List<Integer>> blocks) {

	/**
	 * What the script depends on of a policy.
	 *
	 * @param neighbour the class beside which the fragment is
	 * @param fragment its name
	 * @param windows the windows of the limits, in microseconds
	 * @param constants numbers that the fragment is composed with, by their names: what
	 * is set for any limit, then those of each limit
	 * @param arguments how many arguments there are for each limit
	 * @param ownLargest whether the largest cost of a limit is not always its quota
	 * @param shadow whether it is decided by itself, after the others, and denies nothing
	 */
	record OfPolicy(Class<?> neighbour, String fragment, List<Long> windows, List<Map<String, Number>> constants,
			List<Integer> arguments, boolean ownLargest, boolean countDenied, boolean shadow) {

		static OfPolicy of(Policy policy, boolean shadow) {
			Algorithm algorithm = policy.algorithm();
			List<Limit> limits = policy.limits();
			return new OfPolicy(algorithm.getClass(), algorithm.script(),
					limits.stream().map(Limit::windowMicros).toList(), constants(algorithm, limits),
					limits.stream().map((limit) -> algorithm.arguments(limit, 0).length).toList(),
					limits.stream().anyMatch((limit) -> algorithm.largestCost(limit) != limit.quota()),
					policy.countDenied(), shadow);
		}

		private static List<Map<String, Number>> constants(Algorithm algorithm, List<Limit> limits) {
			Map<String, Number> any = new HashMap<>(algorithm.constants(limits));
			List<Map<String, Number>> constants = new ArrayList<>(List.of(any));
			for (Limit limit : limits) {
				Map<String, Number> one = new HashMap<>(algorithm.constants(limits));
				algorithm.limitConstants(limit).forEach((name, value) -> {
					one.put(name, value);
					any.merge(name, value, (before, next) -> (before.doubleValue() != 0) ? before : next);
				});
				constants.add(one);
			}
			return constants;
		}

		int limits() {
			return this.windows.size();
		}

		/** What is held in shadow mode must be possible to give back. */
		boolean countsDenied(Operation operation) {
			return this.countDenied && operation.acquires() && !(this.shadow && operation == Operation.HOLD);
		}

	}

	/**
	 * For about how long a request holds the server, where 1 is a fixed window of one
	 * identifier.
	 */
	int work() {
		int limits = 0;
		for (int p = 0; p < this.policies.size(); p++) {
			limits += this.blocks.get(p).size() * (1 + this.policies.get(p).limits());
		}
		return Math.max(1, limits / 2);
	}

	/** How many Redis keys with counts a request has. */
	int slots() {
		return this.blocks.stream().mapToInt(List::size).sum();
	}

	/** How many identifiers a request has. */
	int identifiers() {
		return 1 + this.blocks.stream().flatMap(List::stream).mapToInt(Integer::intValue).max().orElse(0);
	}

	/** How many Redis keys with counts stand in front of those of blocks. */
	int stateKeys() {
		return (this.scope == Scope.BLOCKS) ? 0 : slots();
	}

	/** Whether the Redis keys of blocks belong to the request. */
	boolean isBlockable() {
		return this.operation.decides() && this.scope != Scope.COUNTS;
	}

}
