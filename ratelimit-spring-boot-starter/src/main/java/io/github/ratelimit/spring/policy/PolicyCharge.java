package io.github.ratelimit.spring.policy;

import java.util.Optional;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.Mode;
import org.jspecify.annotations.Nullable;

/**
 * What a request uses of a policy, with the identifiers that it is counted by.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param policy the policy and its enforcement
 * @param charge what is decided
 * @param plan the plan of the caller; {@code null} if there is none, or the policy has no
 * such plan
 * @param source where the charge was counted: in the store, or locally
 * @param beforeLogin whether it is counted separately, among the requests that have not
 * passed the login
 * @param call the {@linkplain io.github.ratelimit.RateLimitRequest#call() number} of the
 * request among those that run at the same time, until it has ended; 0 if the charge is
 * of limits
 * @since 0.1
 */
public record PolicyCharge(IdentifiedPolicy policy, Charge charge, @Nullable String plan, Decision.Source source,
		boolean beforeLogin, long call) {

	/**
	 * Creates a charge to be counted in the store.
	 * @param policy the policy and its enforcement
	 * @param charge what is decided
	 * @param plan the plan of the caller; {@code null} if there is none
	 */
	public PolicyCharge(IdentifiedPolicy policy, Charge charge, @Nullable String plan) {
		this(policy, charge, plan, Decision.Source.STORE, false, 0);
	}

	/**
	 * Creates a charge for a caller without a plan.
	 * @param policy the policy and its enforcement
	 * @param charge what is decided
	 */
	public PolicyCharge(IdentifiedPolicy policy, Charge charge) {
		this(policy, charge, null);
	}

	/**
	 * Returns the same charge, counted in a given place.
	 * @param source where it was counted
	 * @return the charge
	 */
	public PolicyCharge countedIn(Decision.Source source) {
		return (source == this.source) ? this
				: new PolicyCharge(this.policy, this.charge, this.plan, source, this.beforeLogin, this.call);
	}

	/**
	 * Returns the same charge with other identifiers or another cost.
	 * @param charge what is decided, of the same policy
	 * @return a new charge
	 */
	public PolicyCharge withCharge(Charge charge) {
		return new PolicyCharge(this.policy, charge, this.plan, this.source, this.beforeLogin, this.call);
	}

	/**
	 * Returns the same charge, to be counted separately until the login. It uses the
	 * limits of the policy itself, regardless of the plan. Its cost is at most the
	 * largest that these limits can ever allow, so that they do not deny a request that
	 * the plan allows.
	 * @return a new charge
	 */
	public PolicyCharge countedBeforeLogin() {
		Policy base = this.policy.policy();
		long largest = base.limits().stream().mapToLong(base.algorithm()::largestCost).min().orElseThrow();
		Charge counted = new Charge(base, this.charge.identifiers(), Math.min(this.charge.cost(), largest));
		return new PolicyCharge(this.policy, counted, null, this.source, true, 0);
	}

	/**
	 * Returns whether a part of the charge may be refunded when the request has ended,
	 * because its policy counts only some responses, or because it is counted separately
	 * until the login.
	 * @return whether the store may count more than will remain counted
	 */
	public boolean isProvisional() {
		return this.beforeLogin || this.policy.enforcement().countWhen() != null;
	}

	/**
	 * Returns whether the charge never denies a request, because its policy is in shadow
	 * mode.
	 * @return whether the policy is in shadow mode
	 */
	public boolean isShadow() {
		return this.policy.enforcement().mode() == Mode.SHADOW;
	}

	/**
	 * Returns the charge for the plan.
	 * @return a charge of the plan's policy; empty if the plan is unlimited
	 */
	public Optional<PolicyCharge> ofPlan() {
		if (this.plan == null) {
			return Optional.of(this);
		}
		String known = this.policy.plans().containsKey(this.plan) ? this.plan : null;
		return this.policy.forPlan(known)
			.map((policy) -> new PolicyCharge(policy,
					new Charge(policy.policy(), this.charge.identifiers(), this.charge.cost()), known, this.source,
					this.beforeLogin, this.call));
	}

	/**
	 * Returns the charge of the request among those that run at the same time. It is the
	 * same whatever the request costs. Requests that have not passed the login are not
	 * counted if they are counted again after it.
	 * @param call the number of the request
	 * @return a charge of cost 1; empty if the policy does not limit concurrent calls
	 */
	public Optional<PolicyCharge> ofCall(long call) {
		return this.policy.calls()
			.filter((calls) -> !this.beforeLogin)
			.map((calls) -> new PolicyCharge(calls, new Charge(calls.policy(), this.charge.identifiers(), 1), null,
					this.source, false, call));
	}

	/**
	 * Returns whether the policy has no other limits than that of concurrent calls.
	 * @return whether {@link #ofCall} replaces this charge
	 */
	public boolean limitsOnlyCalls() {
		return this.charge.policy().algorithm().countsCalls();
	}

}
