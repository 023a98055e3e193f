package io.github.ratelimit.spring.policy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import org.jspecify.annotations.Nullable;

/**
 * A policy with the identifiers that it counts by, and how it is enforced. What creates
 * another one throws {@code IllegalArgumentException} as the constructor with all
 * components does.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param policy the policy
 * @param identifiers at least one identifier as in configuration, such as {@code ip},
 * {@code header:X-User} or {@code ip+user}; each has its own count
 * @param enforcement how the policy is enforced
 * @param plans replacements of the policy for the users of a plan, by the name of the
 * plan; may be empty
 * @param concurrent another policy for the same requests, which limits how many of them
 * run at the same time, whatever their plan and cost; {@code null} if there is none, or
 * if the policy itself does
 * @since 0.1
 */
public record IdentifiedPolicy(Policy policy, List<String> identifiers, Enforcement enforcement,
		Map<String, Plan> plans, @Nullable Policy concurrent) {

	/**
	 * Creates a policy with its identifiers and plans.
	 * @throws IllegalArgumentException if there is no identifier or a duplicate one,
	 * others are to be reset, the policy of a plan has another name, the other policy
	 * does not {@linkplain io.github.ratelimit.Algorithm#countsCalls() count calls}, or
	 * has the same name, or there are more limits, counted separately for each
	 * identifier, than {@linkplain RateLimitRequest#MAX_STATUSES a request} may have
	 */
	public IdentifiedPolicy {
		identifiers = List.copyOf(identifiers);
		if (identifiers.isEmpty() || identifiers.stream().distinct().count() != identifiers.size()) {
			throw new IllegalArgumentException(
					"Invalid identifiers %s: there must be at least one, and no duplicates.".formatted(identifiers));
		}
		if (!identifiers.containsAll(enforcement.reset())) {
			throw new IllegalArgumentException(
					"Invalid reset %s: must be among the identifiers %s.".formatted(enforcement.reset(), identifiers));
		}
		plans = Collections.unmodifiableMap(new LinkedHashMap<>(plans));
		plans.forEach((plan, instead) -> {
			if (instead.policy() != null && !instead.policy().name().equals(policy.name())) {
				throw new IllegalArgumentException("Invalid policy (%s) of the plan '%s': must be named '%s'."
					.formatted(instead.policy().name(), plan, policy.name()));
			}
		});
		if (concurrent != null && (!concurrent.algorithm().countsCalls() || concurrent.name().equals(policy.name()))) {
			throw new IllegalArgumentException(
					"Invalid policy (%s) of concurrent requests: must count them, and have a name of its own."
						.formatted(concurrent.name()));
		}
		int ids = identifiers.size();
		boolean isConcurrent = concurrent != null;
		each(policy, plans, (each, where) -> requireFewLimits(each, where, ids, isConcurrent));
	}

	/** Passes the policy and those of its plans, each with what says which plan it is. */
	private static void each(Policy policy, Map<String, Plan> plans, BiConsumer<Policy, String> consumer) {
		consumer.accept(policy, "");
		plans.forEach((name, plan) -> {
			if (plan.policy() != null) {
				consumer.accept(plan.policy(), " of the plan '" + name + "'");
			}
		});
	}

	private static void requireFewLimits(Policy policy, String where, int identifiers, boolean isConcurrent) {
		int limits = policy.limits().size();
		int all = (limits + (isConcurrent ? 1 : 0)) * identifiers;
		if (all > RateLimitRequest.MAX_STATUSES) {
			throw new IllegalArgumentException(
					"Invalid policy (%s)%s: %s limits%s for each of %s identifiers are %s; there must be at most %s."
						.formatted(policy.name(), where, limits, isConcurrent ? " and concurrent requests" : "",
								identifiers, all, RateLimitRequest.MAX_STATUSES));
		}
	}

	/**
	 * Returns how many limits a request may have in this policy, whatever its plan: those
	 * of each identifier are counted separately, and so is that of concurrent requests.
	 */
	public int mostLimits() {
		int[] most = { 0 };
		each(this.policy, this.plans, (each, where) -> most[0] = Math.max(most[0], each.limits().size()));
		return (most[0] + ((this.concurrent != null) ? 1 : 0)) * this.identifiers.size();
	}

	/** Creates a policy without a limit of concurrent requests. */
	public IdentifiedPolicy(Policy policy, List<String> identifiers, Enforcement enforcement, Map<String, Plan> plans) {
		this(policy, identifiers, enforcement, plans, null);
	}

	/** Creates a policy without plans. */
	public IdentifiedPolicy(Policy policy, List<String> identifiers, Enforcement enforcement) {
		this(policy, identifiers, enforcement, Map.of());
	}

	/** Creates a policy with the default enforcement and without plans. */
	public IdentifiedPolicy(Policy policy, List<String> identifiers) {
		this(policy, identifiers, Enforcement.DEFAULT);
	}

	/**
	 * Returns the same policy with other limits. Its plans stay the same.
	 * @param limits at least one limit, each with a different window
	 * @throws IllegalArgumentException also if the algorithm does not support the limits,
	 * or the policy limits only concurrent requests
	 */
	public IdentifiedPolicy withLimits(List<Limit> limits) {
		if (this.policy.algorithm().countsCalls()) {
			throw new IllegalArgumentException("Invalid limits %s: the policy '%s' limits only concurrent requests."
				.formatted(limits, this.policy.name()));
		}
		return new IdentifiedPolicy(this.policy.withLimits(limits), this.identifiers, this.enforcement, this.plans,
				this.concurrent);
	}

	/** Returns the same policy, and the same plans, without penalties. */
	public IdentifiedPolicy withoutPenalty() {
		Map<String, Plan> plans = new LinkedHashMap<>();
		this.plans.forEach((name, plan) -> plans.put(name,
				(plan.policy() != null) ? new Plan(plan.policy().withPenalty(null)) : plan));
		return new IdentifiedPolicy(this.policy.withPenalty(null), this.identifiers, this.enforcement, plans,
				this.concurrent);
	}

	/** Returns the same policy, enforced in another way. */
	public IdentifiedPolicy withEnforcement(Enforcement enforcement) {
		return new IdentifiedPolicy(this.policy, this.identifiers, enforcement, this.plans, this.concurrent);
	}

	/** Returns the same policy with other identifiers. */
	public IdentifiedPolicy withIdentifiers(List<String> identifiers) {
		return new IdentifiedPolicy(this.policy, identifiers, this.enforcement, this.plans, this.concurrent);
	}

	/** Returns the same policy with other plans. */
	public IdentifiedPolicy withPlans(Map<String, Plan> plans) {
		return new IdentifiedPolicy(this.policy, this.identifiers, this.enforcement, plans, this.concurrent);
	}

	/**
	 * Returns the same policy with another limit of concurrent requests.
	 * @param concurrent a policy as in the constructor; {@code null} for no such limit
	 */
	public IdentifiedPolicy withConcurrent(@Nullable Policy concurrent) {
		return new IdentifiedPolicy(this.policy, this.identifiers, this.enforcement, this.plans, concurrent);
	}

	/**
	 * Returns the policy of a plan: this policy for {@code null} and if it has no such
	 * plan; empty if it is unlimited.
	 */
	public Optional<IdentifiedPolicy> forPlan(@Nullable String plan) {
		Plan instead = (plan != null) ? this.plans.get(plan) : null;
		if (instead == null) {
			return Optional.of(this);
		}
		return Optional.ofNullable(instead.policy())
			.map((other) -> new IdentifiedPolicy(other, this.identifiers, this.enforcement, this.plans,
					this.concurrent));
	}

	/**
	 * Returns the policy that limits concurrent requests, enforced like this one, but for
	 * all responses: this policy if it has no other limits; empty if there is none.
	 */
	public Optional<IdentifiedPolicy> calls() {
		if (this.concurrent == null) {
			return this.policy.algorithm().countsCalls() ? Optional.of(this) : Optional.empty();
		}
		return Optional.of(new IdentifiedPolicy(this.concurrent, this.identifiers, this.enforcement.forAllResponses()));
	}

	/** Returns the policy, those of its plans, and that of its concurrent requests. */
	public List<Policy> policies() {
		List<Policy> policies = new ArrayList<>();
		each(this.policy, this.plans, (each, where) -> policies.add(each));
		if (this.concurrent != null) {
			policies.add(this.concurrent);
		}
		return policies;
	}

	/**
	 * Rejects a cost that is never allowed.
	 * @throws IllegalArgumentException if the cost is negative, or more than a quota of
	 * the policy or of a plan
	 */
	public void requirePossible(long cost) {
		if (cost < 0) {
			throw new IllegalArgumentException("Invalid cost (%s): must not be negative.".formatted(cost));
		}
		each(this.policy, this.plans, (each, where) -> requirePossible(cost, each, where));
	}

	/** A concurrent request costs 1, whatever it costs otherwise. */
	private static void requirePossible(long cost, Policy policy, String where) {
		if (policy.algorithm().countsCalls()) {
			return;
		}
		for (Limit limit : policy.limits()) {
			if (cost > policy.algorithm().largestCost(limit) && limit.quota() > 0) {
				throw new IllegalArgumentException(
						"Invalid cost (%s): the limit %s%s would never allow it.".formatted(cost, limit, where));
			}
		}
	}

}
