package io.github.ratelimit.redis.pipeline;

import java.util.List;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;

/**
 * The algorithms that plain commands can express.
 */
final class PlainAlgorithm {

	private PlainAlgorithm() {
	}

	/**
	 * Refuses a policy that plain commands cannot express.
	 * @throws IllegalArgumentException if they cannot express its algorithm or its
	 * options
	 */
	static void require(Policy policy) {
		switch (policy.algorithm().name()) {
			case "fixed-window" -> requireNoPastWindows(policy);
			case "sliding-window" ->
				policy.limits().forEach((limit) -> SubWindowsCounter.requireSupported(policy, limit));
			case "first-request-window", "sliding-window-counter" -> {
			}
			default -> throw new IllegalArgumentException(
					"Invalid algorithm (%s): must be one of fixed-window, first-request-window, sliding-window, sliding-window-counter where scripts are not used."
						.formatted(policy.algorithm().name()));
		}
	}

	private static void requireNoPastWindows(Policy policy) {
		int past = constant(policy.algorithm(), policy.limits(), "PAST").intValue();
		if (past > 0) {
			throw new IllegalArgumentException(
					"Invalid retain (%d): no past windows can be kept where scripts are not used.".formatted(past + 1));
		}
	}

	/** Length of the sub-windows of a limit, in microseconds. */
	static long precision(Policy policy, Limit limit) {
		return constant(policy.algorithm().withoutScripts(limit), List.of(limit), "PRECISION").longValue();
	}

	private static Number constant(Algorithm algorithm, List<Limit> limits, String name) {
		return algorithm.constants(limits).getOrDefault(name, 0);
	}

	/** Creates what counts a limit of a policy that can be expressed. */
	static Counter counter(CountedLimit limit, PastCounts pastCounts) {
		return switch (limit.algorithm().name()) {
			case "fixed-window" -> new FixedWindowCounter(limit);
			case "first-request-window" -> new FirstRequestCounter(limit);
			case "sliding-window" -> new SubWindowsCounter(limit);
			default -> new TwoWindowsCounter(limit, pastCounts);
		};
	}

}
