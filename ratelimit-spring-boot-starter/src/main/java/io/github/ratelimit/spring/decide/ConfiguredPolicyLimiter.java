package io.github.ratelimit.spring.decide;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.Caller;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import org.jspecify.annotations.Nullable;

/**
 * Decides by the configured policies.
 *
 * @param enforcer supplies what finds the present caller; called when the limiter is
 * used, because it depends on beans that may use the limiter
 * @param plans the plans that uses may name
 */
public record ConfiguredPolicyLimiter(ConfiguredPolicies policies, Decider decider, Supplier<PolicyEnforcer> enforcer,
		ListedPlans plans) implements PolicyLimiter {

	@Override
	public Acquisition tryAcquire(Use... uses) {
		return this.decider.decide(charges(uses));
	}

	@Override
	public Acquisition acquire(Duration atMost, Use... uses) throws InterruptedException {
		return this.decider.acquire(charges(uses), atMost);
	}

	@Override
	public Decision peek(Use... uses) {
		return this.decider.peek(charges(uses));
	}

	@Override
	public boolean reset(String policy, Identifier... identifiers) {
		IdentifiedPolicy configured = GivenIdentifiers.policy(policy, this.policies);
		List<Identifier> counted = GivenIdentifiers.requireSome(configured, counted(List.of(identifiers)));
		boolean done = true;
		for (Policy each : current(configured, counted).policies()) {
			done &= each.algorithm().countsCalls() || this.decider.counted().tryReset(new Charge(each, counted, 0));
		}
		return done;
	}

	private List<PolicyCharge> charges(Use... uses) {
		if (uses.length == 0) {
			throw new IllegalArgumentException("Invalid uses []: there must be at least one.");
		}
		return Stream.of(uses).map(this::charge).flatMap(Optional::stream).toList();
	}

	private Optional<PolicyCharge> charge(Use use) {
		IdentifiedPolicy policy = GivenIdentifiers.policy(use.policy(), this.policies);
		if (use.plan() != null) {
			this.plans.look(use.plan());
		}
		Optional<PolicyCharge> charge = use.identifiers().isEmpty() ? ofPresentCaller(policy, use)
				: Optional.of(ofIdentifiers(policy, use));
		return charge.map((found) -> withoutResponse(found, (use.plan() != null) ? use.plan() : found.plan()));
	}

	private Optional<PolicyCharge> ofPresentCaller(IdentifiedPolicy policy, Use use) {
		GivenIdentifiers.requireNone(policy);
		return this.enforcer.get().charge(new PolicyUse(policy, use.cost(), Map.of()));
	}

	private PolicyCharge ofIdentifiers(IdentifiedPolicy policy, Use use) {
		List<Identifier> identifiers = GivenIdentifiers.of(policy, counted(use.identifiers()));
		IdentifiedPolicy current = current(policy, identifiers);
		return new PolicyCharge(current, new Charge(current.policy(), identifiers, use.cost()));
	}

	private List<Identifier> counted(List<Identifier> given) {
		return given.stream().map(this.enforcer.get()::counted).toList();
	}

	private IdentifiedPolicy current(IdentifiedPolicy policy, List<Identifier> identifiers) {
		Caller caller = (name) -> identifiers.stream()
			.filter((identifier) -> identifier.type().equals(name))
			.findFirst()
			.orElse(null);
		return this.decider.current(new PolicyUse(policy, 0, Map.of()), caller).policy();
	}

	/** Returns the charge for a plan, which no response makes provisional. */
	private static PolicyCharge withoutResponse(PolicyCharge charge, @Nullable String plan) {
		IdentifiedPolicy policy = charge.policy();
		if (!charge.isProvisional() && Objects.equals(plan, charge.plan())) {
			return charge;
		}
		return new PolicyCharge(
				charge.isProvisional() ? policy.withEnforcement(policy.enforcement().forAllResponses()) : policy,
				charge.charge(), plan);
	}

}
