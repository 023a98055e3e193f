package io.github.ratelimit.spring;

import java.util.List;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;

/**
 * A policy, by what its requests are identified, and how it is enforced.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param policy the policy
 * @param identifiers at least one identifier as in configuration, such as {@code ip},
 * {@code header:X-User} or {@code ip+user}; each has a count of its own
 * @param enforcement how the policy is enforced
 * @since 0.1
 */
public record IdentifiedPolicy(Policy policy, List<String> identifiers, Enforcement enforcement) {

	/**
	 * Creates a policy with its identifiers.
	 * @throws IllegalArgumentException if there is no identifier, or one of them twice
	 */
	public IdentifiedPolicy {
		identifiers = List.copyOf(identifiers);
		if (identifiers.isEmpty() || identifiers.stream().distinct().count() != identifiers.size()) {
			throw new IllegalArgumentException(
					"Invalid identifiers %s: there must be at least one, and none twice.".formatted(identifiers));
		}
	}

	/**
	 * Creates a policy that is enforced in the default way.
	 * @param policy the policy
	 * @param identifiers at least one identifier as in configuration
	 * @throws IllegalArgumentException if there is no identifier, or one of them twice
	 */
	public IdentifiedPolicy(Policy policy, List<String> identifiers) {
		this(policy, identifiers, Enforcement.DEFAULT);
	}

	/**
	 * Refuses a cost that no request could ever pay.
	 * @param cost the cost of each request
	 * @throws IllegalArgumentException if the cost is negative or more than a quota
	 */
	public void requirePossible(long cost) {
		if (cost < 0) {
			throw new IllegalArgumentException("Invalid cost (%d): must not be negative.".formatted(cost));
		}
		for (Limit limit : this.policy.limits()) {
			if (cost > this.policy.algorithm().largestCost(limit) && limit.quota() > 0) {
				throw new IllegalArgumentException(
						"Invalid cost (%d): the limit %s would never allow it.".formatted(cost, limit));
			}
		}
	}

}
