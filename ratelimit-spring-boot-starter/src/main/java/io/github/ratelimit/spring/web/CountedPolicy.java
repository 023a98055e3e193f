package io.github.ratelimit.spring.web;

import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.PolicyCharge;
import org.jspecify.annotations.Nullable;

/**
 * What a policy counts by. It is the same for plans that have the same algorithm and
 * windows, as for users without a plan, whatever their quotas are; other plans have
 * counts of their own.
 *
 * @param policy name of the policy
 * @param stateForm its algorithm and windows; {@code null} if nothing counts
 */
record CountedPolicy(String policy, @Nullable String stateForm) {

	static CountedPolicy of(PolicyCharge charge) {
		return new CountedPolicy(charge.charge().policy().name(),
				charge.policy().forPlan(charge.plan()).map((policy) -> policy.policy().stateForm()).orElse(null));
	}

	/** The policy whose quotas are enforced; {@code null} if none are. */
	static @Nullable Policy enforced(PolicyCharge charge) {
		return charge.policy().forPlan(charge.plan()).map(IdentifiedPolicy::policy).orElse(null);
	}

}
