package io.github.ratelimit.redis.pipeline;

import java.util.List;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;

/**
 * The algorithms that plain commands can express.
 */
final class PlainAlgorithm {

	private static final int DEFAULT_SUB_WINDOWS = 60;

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
		int past = constant(policy, policy.limits(), "PAST").intValue();
		if (past > 0) {
			throw new IllegalArgumentException(
					"Invalid retain (%d): no past windows can be kept where scripts are not used.".formatted(past + 1));
		}
	}

	/**
	 * Length of the sub-windows of a limit, in microseconds: a sixtieth of the window, in
	 * whole milliseconds, unless the policy says otherwise.
	 */
	static long precision(Policy policy, Limit limit) {
		long precision = constant(policy, List.of(limit), "PRECISION").longValue();
		return (precision > 0) ? precision : 1000 * Math.max(1, limit.window().toMillis() / DEFAULT_SUB_WINDOWS);
	}

	private static Number constant(Policy policy, List<Limit> limits, String name) {
		return policy.algorithm().constants(limits).getOrDefault(name, 0);
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
