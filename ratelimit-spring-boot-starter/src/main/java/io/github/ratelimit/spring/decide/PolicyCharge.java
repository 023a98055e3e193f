package io.github.ratelimit.spring.decide;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.Mode;
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
 * @param call the {@linkplain io.github.ratelimit.RateLimitRequest#call() number} of the
 * request among those that run at the same time; 0 if the charge is of limits
 */
public record PolicyCharge(IdentifiedPolicy policy, Charge charge, @Nullable String plan, Decision.Source source,
		long call) {

	/** Creates a charge to be counted in the store. */
	public PolicyCharge(IdentifiedPolicy policy, Charge charge, @Nullable String plan) {
		this(policy, charge, plan, Decision.Source.STORE, 0);
	}

	/** Creates a charge for a caller without a plan. */
	public PolicyCharge(IdentifiedPolicy policy, Charge charge) {
		this(policy, charge, null);
	}

	/** Returns the same charge, counted in a given place. */
	public PolicyCharge countedIn(Decision.Source source) {
		return (source == this.source) ? this
				: new PolicyCharge(this.policy, this.charge, this.plan, source, this.call);
	}

	/** Returns the same charge with other identifiers or another cost. */
	public PolicyCharge withCharge(Charge charge) {
		return new PolicyCharge(this.policy, charge, this.plan, this.source, this.call);
	}

	/**
	 * Returns whether a part of the charge may be refunded when the request has ended,
	 * because its policy counts only some responses.
	 */
	public boolean isProvisional() {
		return this.policy.enforcement().countWhen() != null;
	}

	/** Returns whether the charge never denies a request. */
	boolean isShadow() {
		return this.policy.enforcement().mode() == Mode.SHADOW;
	}

	/** Returns the charge for the plan; empty if that, or everybody, is unlimited. */
	Optional<PolicyCharge> inForce() {
		if (!this.policy.enforcement().enabled()) {
			return Optional.empty();
		}
		if (this.plan == null) {
			return Optional.of(this);
		}
		String known = this.policy.plans().containsKey(this.plan) ? this.plan : null;
		return this.policy.forPlan(known)
			.map((policy) -> new PolicyCharge(policy,
					new Charge(policy.policy(), this.charge.identifiers(), this.charge.cost()), known, this.source,
					this.call));
	}

	/**
	 * Returns the charge of the request, by its number, among those that run at the same
	 * time: always 1. Empty if the policy does not limit them.
	 */
	Optional<PolicyCharge> ofCall(long call) {
		return this.policy.calls()
			.map((calls) -> new PolicyCharge(calls, new Charge(calls.policy(), this.charge.identifiers(), 1), null,
					this.source, call));
	}

	/** Returns whether {@link #ofCall} replaces this charge: there are no limits. */
	boolean limitsOnlyCalls() {
		return this.charge.policy().algorithm().countsCalls();
	}

	/** Returns the count of an identifier. */
	public Account account(Identifier identifier) {
		return new Account(this.charge.policy().name(), this.charge.policy().stateForm(), identifier);
	}

	/**
	 * Returns the statuses of limits whose quota is 0, for which the store is not called.
	 * Policies that count denied requests need the store, for their other limits.
	 */
	List<LimitStatus> impossible() {
		Policy policy = this.charge.policy();
		List<LimitStatus> statuses = List.of();
		for (Limit limit : policy.limits()) {
			if (limit.quota() == 0 && !policy.countDenied() && !isShadow()) {
				statuses = statuses.isEmpty() ? new ArrayList<>() : statuses;
				for (Identifier identifier : this.charge.identifiers()) {
					statuses.add(LimitStatus.ofMicros(policy, identifier, limit, 0, 0, -1, true));
				}
			}
		}
		return statuses;
	}

	/** A count in the store. Plans with other windows have separate counts. */
	public record Account(String policy, String stateForm, Identifier identifier) {

	}

}
