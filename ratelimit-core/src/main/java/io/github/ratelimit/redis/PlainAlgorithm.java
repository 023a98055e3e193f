package io.github.ratelimit.redis;

import java.util.Arrays;
import java.util.stream.Collectors;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;

/**
 * The algorithms that plain commands can express, and what counts by each of them.
 */
enum PlainAlgorithm {

	FIXED_WINDOW("fixed-window",
			(charge, identifier, key, moment, pastCounts) -> new FixedWindowTally(charge, identifier, key, moment)) {

		@Override
		void requireExpressible(Policy policy) {
			Number past = policy.algorithm().constants(policy.limits()).get("PAST");
			if (past != null && past.intValue() > 0) {
				throw new IllegalArgumentException(
						"Invalid retain (%s): no past windows can be kept where scripts are not used."
							.formatted(past.intValue() + 1));
			}
		}

	},

	FIRST_REQUEST_WINDOW("first-request-window",
			(charge, identifier, key, moment, pastCounts) -> new FirstRequestWindowTally(charge, identifier, key,
					moment)),

	SLIDING_WINDOW("sliding-window",
			(charge, identifier, key, moment, pastCounts) -> new SlidingWindowTally(charge, identifier, key, moment)) {

		@Override
		void requireExpressible(Policy policy) {
			SlidingWindowTally.requireSupported(policy);
		}

	},

	SLIDING_WINDOW_COUNTER("sliding-window-counter", SlidingWindowCounterTally::new);

	private final String text;

	private final Tallying tallying;

	PlainAlgorithm(String text, Tallying tallying) {
		this.text = text;
		this.tallying = tallying;
	}

	/** Creates what counts one policy and identifier. */
	@FunctionalInterface
	interface Tallying {

		Tally tally(Charge charge, Identifier identifier, String key, Moment moment, PastCounts pastCounts);

	}

	/**
	 * Refuses a policy that plain commands cannot express.
	 * @throws IllegalArgumentException if they cannot express its algorithm or its
	 * options
	 */
	static void require(Policy policy) {
		of(policy).requireExpressible(policy);
	}

	/**
	 * Finds the algorithm of a policy.
	 * @throws IllegalArgumentException if plain commands cannot express it
	 */
	private static PlainAlgorithm of(Policy policy) {
		for (PlainAlgorithm algorithm : values()) {
			if (algorithm.text.equals(policy.algorithm().name())) {
				return algorithm;
			}
		}
		throw new IllegalArgumentException("Invalid algorithm (%s): must be one of %s where scripts are not used."
			.formatted(policy.algorithm().name(),
					Arrays.stream(values()).map((algorithm) -> algorithm.text).collect(Collectors.joining(", "))));
	}

	/** Creates what counts one policy and identifier. */
	static Tally tally(Charge charge, Identifier identifier, RedisKeys keys, Moment moment, PastCounts pastCounts) {
		String key = keys.key(identifier, charge.policy());
		return of(charge.policy()).tallying.tally(charge, identifier, key, moment, pastCounts);
	}

	/** Refuses options that cannot be expressed. */
	void requireExpressible(Policy policy) {
	}

}
