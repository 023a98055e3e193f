package io.github.ratelimit.spring.policy;

import java.time.Duration;
import java.util.List;
import java.util.function.BiFunction;

import io.github.ratelimit.Decision;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.DecisionListener;
import io.github.ratelimit.spring.PolicyDecision;
import io.github.ratelimit.spring.PolicyDecision.Outcome;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies the listeners of the outcome of a decision for each of its policies.
 */
final class PolicyOutcomes {

	private static final Logger logger = LoggerFactory.getLogger(PolicyOutcomes.class);

	private final List<DecisionListener> listeners;

	private final BiFunction<PolicyCharge, Decision, Decision.Source> source;

	/**
	 * Creates outcomes.
	 * @param listeners are notified, in this order
	 * @param source returns where a charge was decided, from its own decision
	 */
	PolicyOutcomes(List<DecisionListener> listeners, BiFunction<PolicyCharge, Decision, Decision.Source> source) {
		this.listeners = List.copyOf(listeners);
		this.source = source;
	}

	/**
	 * Notifies the listeners of a decision.
	 * @param decision the decision; {@code null} if the store failed
	 * @param start when it was begun, by {@link System#nanoTime()}
	 */
	void notify(List<PolicyCharge> charges, @Nullable Decision decision, long start) {
		Duration time = Duration.ofNanos(System.nanoTime() - start);
		for (PolicyCharge charge : charges) {
			if (!charge.isShadow() || (decision != null && decision.allowed())) {
				notify(event(charge, (decision != null) ? PolicyDecisions.own(charge, decision) : null, time));
			}
		}
	}

	private PolicyDecision event(PolicyCharge charge, @Nullable Decision own, Duration time) {
		if (own == null) {
			return event(charge, Outcome.STORE_FAILED_DENIED, Decision.Source.NONE, time, List.of());
		}
		List<LimitStatus> violated = violated(charge, own);
		return event(charge, outcome(charge, own, violated), this.source.apply(charge, own), time, violated);
	}

	private static PolicyDecision event(PolicyCharge charge, Outcome outcome, Decision.Source source, Duration time,
			List<LimitStatus> violated) {
		return new PolicyDecision(charge.policy(), charge.charge(), charge.plan(), outcome, source, time, violated);
	}

	private static List<LimitStatus> violated(PolicyCharge charge, Decision decision) {
		Policy policy = charge.charge().policy();
		return decision.allowed() ? List.of()
				: decision.violated().stream().filter((status) -> status.policy().equals(policy)).toList();
	}

	private void notify(PolicyDecision decision) {
		for (DecisionListener listener : this.listeners) {
			try {
				listener.decided(decision);
			}
			catch (RuntimeException ex) {
				logger.debug("A listener of decisions failed", ex);
			}
		}
	}

	private Outcome outcome(PolicyCharge charge, Decision decision, List<LimitStatus> violated) {
		if (decision.allowed()) {
			return (this.source.apply(charge, decision) == Decision.Source.NONE) ? Outcome.STORE_FAILED_ALLOWED
					: Outcome.ALLOWED;
		}
		if (charge.isShadow()) {
			return Outcome.SHADOW_DENIED;
		}
		if (decision.blockedFor() != null) {
			return Outcome.BLOCKED;
		}
		return violated.isEmpty() ? Outcome.DENIED_BY_OTHER : Outcome.DENIED;
	}

}
