package io.github.ratelimit.spring;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import org.jspecify.annotations.Nullable;

/**
 * A policy with the identifiers that it counts by, and how it is enforced.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param policy the policy
 * @param identifiers at least one identifier as in configuration, such as {@code ip},
 * {@code header:X-User} or {@code ip+user}; each has its own count
 * @param enforcement how the policy is enforced
 * @param plans replacements of the policy for the users of a plan, by the name of the
 * plan; may be empty
 * @since 0.1
 */
public record IdentifiedPolicy(Policy policy, List<String> identifiers, Enforcement enforcement,
		Map<String, Plan> plans) {

	/**
	 * Creates a policy with its identifiers and plans.
	 * @throws IllegalArgumentException if there is no identifier or a duplicate one, or
	 * the policy of a plan has another name
	 */
	public IdentifiedPolicy {
		identifiers = List.copyOf(identifiers);
		if (identifiers.isEmpty() || identifiers.stream().distinct().count() != identifiers.size()) {
			throw new IllegalArgumentException(
					"Invalid identifiers %s: there must be at least one, and no duplicates.".formatted(identifiers));
		}
		plans = Collections.unmodifiableMap(new LinkedHashMap<>(plans));
		plans.forEach((plan, instead) -> {
			if (instead.policy() != null && !instead.policy().name().equals(policy.name())) {
				throw new IllegalArgumentException("Invalid policy (%s) of the plan '%s': must be named '%s'."
					.formatted(instead.policy().name(), plan, policy.name()));
			}
		});
	}

	/**
	 * Creates a policy without plans.
	 * @param policy the policy
	 * @param identifiers at least one identifier as in configuration
	 * @param enforcement how the policy is enforced
	 * @throws IllegalArgumentException if there is no identifier or a duplicate one
	 */
	public IdentifiedPolicy(Policy policy, List<String> identifiers, Enforcement enforcement) {
		this(policy, identifiers, enforcement, Map.of());
	}

	/**
	 * Creates a policy with the default enforcement and without plans.
	 * @param policy the policy
	 * @param identifiers at least one identifier as in configuration
	 * @throws IllegalArgumentException if there is no identifier or a duplicate one
	 */
	public IdentifiedPolicy(Policy policy, List<String> identifiers) {
		this(policy, identifiers, Enforcement.DEFAULT);
	}

	/**
	 * Returns the same policy with other limits. Its plans stay the same.
	 * @param limits at least one limit, each with a different window
	 * @return a new policy
	 * @throws IllegalArgumentException if the algorithm does not support the limits
	 */
	public IdentifiedPolicy withLimits(List<Limit> limits) {
		return new IdentifiedPolicy(
				new Policy(this.policy.name(), this.policy.algorithm(), limits, this.policy.countDenied()),
				this.identifiers, this.enforcement, this.plans);
	}

	/**
	 * Returns the same policy, enforced in another way.
	 * @param enforcement how the policy is enforced
	 * @return a new policy
	 */
	public IdentifiedPolicy withEnforcement(Enforcement enforcement) {
		return new IdentifiedPolicy(this.policy, this.identifiers, enforcement, this.plans);
	}

	/**
	 * Returns the same policy with other identifiers.
	 * @param identifiers at least one identifier as in configuration
	 * @return a new policy
	 * @throws IllegalArgumentException if there is no identifier or a duplicate one
	 */
	public IdentifiedPolicy withIdentifiers(List<String> identifiers) {
		return new IdentifiedPolicy(this.policy, identifiers, this.enforcement, this.plans);
	}

	/**
	 * Returns the same policy with other plans.
	 * @param plans replacements of the policy for the users of a plan, by the name of the
	 * plan; may be empty
	 * @return a new policy
	 * @throws IllegalArgumentException if the policy of a plan has another name
	 */
	public IdentifiedPolicy withPlans(Map<String, Plan> plans) {
		return new IdentifiedPolicy(this.policy, this.identifiers, this.enforcement, plans);
	}

	/**
	 * Returns the policy for the users of a plan.
	 * @param plan name of the plan; {@code null} for none
	 * @return the policy of the plan; this policy if it has no such plan; empty if the
	 * plan is unlimited
	 */
	public Optional<IdentifiedPolicy> forPlan(@Nullable String plan) {
		Plan instead = (plan != null) ? this.plans.get(plan) : null;
		if (instead == null) {
			return Optional.of(this);
		}
		return Optional.ofNullable(instead.policy())
			.map((other) -> new IdentifiedPolicy(other, this.identifiers, this.enforcement, this.plans));
	}

	/**
	 * Returns every policy that may be enforced.
	 * @return the policy and those of its plans
	 */
	public List<Policy> policies() {
		List<Policy> policies = new ArrayList<>();
		policies.add(this.policy);
		for (Plan plan : this.plans.values()) {
			if (plan.policy() != null) {
				policies.add(plan.policy());
			}
		}
		return policies;
	}

	/**
	 * Rejects a cost that is never allowed.
	 * @param cost the cost of each request
	 * @throws IllegalArgumentException if the cost is negative, or more than a quota of
	 * the policy or of a plan
	 */
	public void requirePossible(long cost) {
		if (cost < 0) {
			throw new IllegalArgumentException("Invalid cost (%d): must not be negative.".formatted(cost));
		}
		requirePossible(cost, this.policy, "");
		this.plans.forEach((name, plan) -> {
			if (plan.policy() != null) {
				requirePossible(cost, plan.policy(), " of the plan '" + name + "'");
			}
		});
	}

	private static void requirePossible(long cost, Policy policy, String where) {
		for (Limit limit : policy.limits()) {
			if (cost > policy.algorithm().largestCost(limit) && limit.quota() > 0) {
				throw new IllegalArgumentException(
						"Invalid cost (%d): the limit %s%s would never allow it.".formatted(cost, limit, where));
			}
		}
	}

}
