package io.github.ratelimit.redis.script;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import org.jspecify.annotations.Nullable;

/**
 * Everything that the script for a request depends on. All else comes with each call.
 *
 * @param customClock whether each request comes with its time, instead of the server's
 * @param blocks for each policy, which of the identifiers of the request it has
 */
public record Shape(Operation operation, Scope scope, boolean customClock, List<OfPolicy> policies,
		List<List<Integer>> blocks) {

	/**
	 * What the script depends on in a policy.
	 *
	 * @param neighbour the class beside which the fragment is
	 * @param fragment its name
	 * @param constants the constants by name: first those for all limits together, with
	 * those of the algorithm for any limit, then those of each limit
	 * @param arguments the number of arguments of each limit
	 * @param ownLargest whether the largest cost of a limit may differ from its quota
	 * @param shadow whether it is decided on its own, after the others, and denies
	 * nothing
	 */
	public record OfPolicy(Class<?> neighbour, String fragment, List<Map<String, Number>> constants,
			List<Integer> arguments, boolean ownLargest, boolean countDenied, boolean shadow,
			@Nullable Penalty penalty) {

		public static OfPolicy of(Policy policy, boolean shadow) {
			Algorithm algorithm = policy.algorithm();
			List<Limit> limits = policy.limits();
			return new OfPolicy(algorithm.getClass(), algorithm.script(), constants(algorithm, limits),
					limits.stream().map((limit) -> algorithm.arguments(limit, 0).length).toList(),
					limits.stream().anyMatch((limit) -> algorithm.largestCost(limit) != limit.quota()),
					policy.countDenied(), shadow, policy.penalty());
		}

		private static List<Map<String, Number>> constants(Algorithm algorithm, List<Limit> limits) {
			Map<String, Number> any = new HashMap<>(algorithm.constants(limits));
			any.put("LIMITS", limits.size());
			any.put("LONGEST", limits.get(limits.size() - 1).windowMicros());
			List<Map<String, Number>> constants = new ArrayList<>(List.of(any));
			for (Limit limit : limits) {
				Map<String, Number> one = new HashMap<>(algorithm.constants(limits));
				int arguments = algorithm.arguments(limit, 0).length;
				one.put("ARGUMENTS", arguments);
				any.merge("ARGUMENTS", arguments, (most, next) -> Math.max(most.intValue(), next.intValue()));
				one.put("WINDOW", limit.windowMicros());
				one.put("INDEX", constants.size());
				constants.add(one);
			}
			return constants;
		}

		public int limits() {
			return this.arguments.size();
		}

		public boolean countsDenied(Operation operation) {
			return this.countDenied && operation == Operation.ACQUIRE;
		}

	}

	public boolean penalizes(OfPolicy policy) {
		return policy.penalty() != null && this.operation.penalizes(this.scope, policy.shadow());
	}

	/**
	 * About how long a request occupies the server; 1 is a fixed window of one
	 * identifier. A refund may read and write a large state as a whole, and a history
	 * reads as much.
	 */
	public int work() {
		if (this.operation == Operation.HISTORY) {
			return 128;
		}
		int limits = 0;
		for (int p = 0; p < this.policies.size(); p++) {
			limits += this.blocks.get(p).size() * (1 + this.policies.get(p).limits());
		}
		return Math.max(1, limits / 2) * (this.operation.givesBack() ? 8 : 1);
	}

	public int slots() {
		return this.blocks.stream().mapToInt(List::size).sum();
	}

	public int identifiers() {
		return 1 + this.blocks.stream().flatMap(List::stream).mapToInt(Integer::intValue).max().orElse(0);
	}

	/** Those of counts, which precede those of blocks; those of denials come last. */
	public int stateKeys() {
		return (this.scope == Scope.BLOCKS) ? 0 : slots();
	}

}
