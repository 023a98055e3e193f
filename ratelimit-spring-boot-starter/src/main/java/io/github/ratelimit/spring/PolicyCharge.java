package io.github.ratelimit.spring;

import java.util.Optional;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Policy;
import org.jspecify.annotations.Nullable;

/**
 * What a request uses of a policy, with the identifiers that it is counted by.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param policy the policy, which says how it is enforced
 * @param charge what is decided
 * @param plan the plan of who makes the request; {@code null} if there is none, or the
 * policy knows no such plan
 * @param source where it was counted, once it was: in the store, or locally
 * @param beforeLogin whether it is counted apart, among the requests that have not come
 * through the login, until it has
 * @since 0.1
 */
public record PolicyCharge(IdentifiedPolicy policy, Charge charge, @Nullable String plan, Decision.Source source,
		boolean beforeLogin) {

	/**
	 * Creates a charge that is to be counted in the store.
	 * @param policy the policy, which says how it is enforced
	 * @param charge what is decided
	 * @param plan the plan of who makes the request; {@code null} if there is none
	 */
	public PolicyCharge(IdentifiedPolicy policy, Charge charge, @Nullable String plan) {
		this(policy, charge, plan, Decision.Source.STORE, false);
	}

	/**
	 * Creates a charge of somebody without a plan.
	 * @param policy the policy, which says how it is enforced
	 * @param charge what is decided
	 */
	public PolicyCharge(IdentifiedPolicy policy, Charge charge) {
		this(policy, charge, null);
	}

	/**
	 * Returns the same charge as it was counted.
	 * @param source where it was counted
	 * @return the charge
	 */
	public PolicyCharge countedIn(Decision.Source source) {
		return (source == this.source) ? this
				: new PolicyCharge(this.policy, this.charge, this.plan, source, this.beforeLogin);
	}

	/**
	 * Returns the same charge of other identifiers, or at another cost.
	 * @param charge what is decided, of the same policy
	 * @return a new charge
	 */
	public PolicyCharge withCharge(Charge charge) {
		return new PolicyCharge(this.policy, charge, this.plan, this.source, this.beforeLogin);
	}

	/**
	 * Returns the same charge, to be counted among the requests that have not come
	 * through the login: by the limits of the policy itself, whatever the plan, and at no
	 * more than the largest cost that they could ever allow, so that a request that the
	 * plan allows comes through.
	 * @return a new charge
	 */
	public PolicyCharge countedBeforeLogin() {
		Policy base = this.policy.policy();
		long largest = base.limits().stream().mapToLong(base.algorithm()::largestCost).min().orElseThrow();
		Charge counted = new Charge(base, this.charge.identifiers(), Math.min(this.charge.cost(), largest));
		return new PolicyCharge(this.policy, counted, null, this.source, true);
	}

	/**
	 * Returns whether some of it may be given back when the request has ended: because
	 * its policy counts some responses only, or because it is counted apart until the
	 * login.
	 * @return whether the store may count more than will stay counted
	 */
	public boolean isProvisional() {
		return this.beforeLogin || this.policy.enforcement().countWhen() != null;
	}

	/**
	 * Returns the charge that counts for the plan.
	 * @return a charge of the plan's policy; empty if nothing counts
	 */
	public Optional<PolicyCharge> ofPlan() {
		if (this.plan == null) {
			return Optional.of(this);
		}
		String known = this.policy.plans().containsKey(this.plan) ? this.plan : null;
		return this.policy.forPlan(known)
			.map((policy) -> new PolicyCharge(policy,
					new Charge(policy.policy(), this.charge.identifiers(), this.charge.cost()), known, this.source,
					this.beforeLogin));
	}

}
