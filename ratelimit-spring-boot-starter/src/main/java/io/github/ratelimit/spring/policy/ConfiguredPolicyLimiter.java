package io.github.ratelimit.spring.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.Caller;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.Enforcement;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.PolicyLimiter;

/**
 * Decides by the configured policies.
 */
final class ConfiguredPolicyLimiter implements PolicyLimiter {

	private final ConfiguredPolicies policies;

	private final PolicyDecisions decisions;

	private final Supplier<PolicyEnforcer> enforcer;

	/**
	 * Creates a limiter.
	 * @param policies the policies by name
	 * @param decisions decides
	 * @param enforcer supplies what finds the present caller; called when the limiter is
	 * used, because it depends on beans that may use the limiter
	 */
	ConfiguredPolicyLimiter(ConfiguredPolicies policies, PolicyDecisions decisions, Supplier<PolicyEnforcer> enforcer) {
		this.policies = policies;
		this.decisions = decisions;
		this.enforcer = enforcer;
	}

	@Override
	public Acquisition tryAcquire(Use... uses) {
		List<PolicyCharge> used = new ArrayList<>(uses.length);
		Decision decision = this.decisions.decide(charges(uses), used::add);
		return new Acquired(decision, new AtomicReference<>(used), this.decisions);
	}

	@Override
	public Decision peek(Use... uses) {
		return this.decisions.peek(charges(uses));
	}

	private List<PolicyCharge> charges(Use... uses) {
		if (uses.length == 0) {
			throw new IllegalArgumentException("Invalid uses []: there must be at least one.");
		}
		return Stream.of(uses).map(this::charge).flatMap(Optional::stream).toList();
	}

	private Optional<PolicyCharge> charge(Use use) {
		IdentifiedPolicy policy = GivenIdentifiers.policy(use.policy(), this.policies);
		Optional<PolicyCharge> charge = use.identifiers().isEmpty() ? ofPresentCaller(policy, use)
				: Optional.of(ofIdentifiers(policy, use));
		return charge.map(ConfiguredPolicyLimiter::withoutResponse)
			.map((found) -> (use.plan() != null) ? new PolicyCharge(found.policy(), found.charge(), use.plan())
					: found);
	}

	private Optional<PolicyCharge> ofPresentCaller(IdentifiedPolicy policy, Use use) {
		GivenIdentifiers.requireNone(policy);
		return this.enforcer.get().charge(new PolicyUse(policy, use.cost(), Map.of()));
	}

	private PolicyCharge ofIdentifiers(IdentifiedPolicy policy, Use use) {
		Function<Identifier, Identifier> counted = this.enforcer.get()::counted;
		List<Identifier> identifiers = GivenIdentifiers.of(policy, use.identifiers().stream().map(counted).toList());
		Caller caller = (name) -> identifiers.stream()
			.filter((identifier) -> identifier.type().equals(name))
			.findFirst()
			.orElse(null);
		PolicyUse current = this.decisions.current(new PolicyUse(policy, use.cost(), Map.of()), caller);
		return new PolicyCharge(current.policy(), new Charge(current.policy().policy(), identifiers, use.cost()));
	}

	/** Returns the same charge, which no response makes provisional. */
	private static PolicyCharge withoutResponse(PolicyCharge charge) {
		Enforcement enforcement = charge.policy().enforcement();
		if (enforcement.countWhen() == null) {
			return charge;
		}
		return new PolicyCharge(charge.policy()
			.withEnforcement(
					new Enforcement(enforcement.mode(), enforcement.onStoreFailure(), null, enforcement.missing())),
				charge.charge(), charge.plan());
	}

	/**
	 * A decision with the charges that it used, until they are refunded or ended.
	 */
	private record Acquired(Decision decision, AtomicReference<List<PolicyCharge>> used,
			PolicyDecisions decisions) implements Acquisition {

		@Override
		public void end() {
			List<PolicyCharge> charges = this.used.getAndUpdate((all) -> calls(all, false));
			this.decisions.end(calls(charges, true));
		}

		@Override
		public void refund() {
			List<PolicyCharge> charges = this.used.getAndSet(List.of());
			this.decisions.end(calls(charges, true));
			List<PolicyCharge> others = calls(charges, false);
			if (!others.isEmpty()) {
				this.decisions.refund(others);
			}
		}

		/** Returns the charges of concurrent calls, or all others. */
		private static List<PolicyCharge> calls(List<PolicyCharge> charges, boolean calls) {
			return charges.stream().filter((charge) -> (charge.call() != 0) == calls).toList();
		}

	}

}
