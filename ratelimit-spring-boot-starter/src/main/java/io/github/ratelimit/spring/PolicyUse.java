package io.github.ratelimit.spring;

import java.util.Map;

/**
 * What a call or request uses of a policy, before it is known who makes it.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param policy the policy
 * @param cost what is used of each quota, 0 or more
 * @param values what the caller knows of identifiers already, by their names in the
 * policy: those that are expressions over the arguments of a method; a name with no value
 * is missing
 * @since 0.1
 */
public record PolicyUse(IdentifiedPolicy policy, long cost, Map<String, String> values) {

	/**
	 * Creates a use of a policy.
	 * @throws IllegalArgumentException if the cost is negative
	 */
	public PolicyUse {
		if (cost < 0) {
			throw new IllegalArgumentException("Invalid cost (%d): must not be negative.".formatted(cost));
		}
		values = Map.copyOf(values);
	}

	/**
	 * Creates a use of a policy whose caller knows of no identifiers.
	 * @param policy the policy
	 * @param cost what is used of each quota, 0 or more
	 * @throws IllegalArgumentException if the cost is negative
	 */
	public PolicyUse(IdentifiedPolicy policy, long cost) {
		this(policy, cost, Map.of());
	}

}
