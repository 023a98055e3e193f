package io.github.ratelimit.spring.policy;

import java.time.Duration;
import java.util.List;

import io.github.ratelimit.Decision;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.outage.OutageRateLimiter;
import io.github.ratelimit.spring.DecisionListener;
import io.github.ratelimit.spring.Mode;
import io.github.ratelimit.spring.Outcome;
import io.github.ratelimit.spring.PolicyCharge;
import io.github.ratelimit.spring.PolicyDecision;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds what a decision over several policies means for each of them, and notifies the
 * listeners of it.
 */
final class PolicyOutcomes {

	private static final Logger logger = LoggerFactory.getLogger(PolicyOutcomes.class);

	private final List<DecisionListener> listeners;

	private final OutageRateLimiter limiter;

	PolicyOutcomes(List<DecisionListener> listeners, OutageRateLimiter limiter) {
		this.listeners = List.copyOf(listeners);
		this.limiter = limiter;
	}

	static boolean isShadow(PolicyCharge charge) {
		return charge.policy().enforcement().mode() == Mode.SHADOW;
	}

	/** Returns what the policy of a charge came to. */
	static Decision own(PolicyCharge charge, Decision decision) {
		return isShadow(charge) ? decision.shadow(charge.charge()) : decision;
	}

	/**
	 * Returns where a charge was decided. During an outage, policies that are not limited
	 * locally are allowed if those that are allow it. A store that is only busy leaves
	 * none of them unlimited.
	 */
	Decision.Source source(PolicyCharge charge, Decision decision) {
		boolean unlimited = decision.source() == Decision.Source.LOCAL && decision.allowed()
				&& this.limiter.failingSince().isPresent()
				&& charge.policy().enforcement().whenStoreFails() != OnStoreFailure.LOCAL;
		return unlimited ? Decision.Source.NONE : decision.source();
	}

	/**
	 * Notifies the listeners of a decision.
	 * @param decision the decision; {@code null} if the store failed
	 * @param start when it was begun, by {@link System#nanoTime()}
	 */
	void tell(List<PolicyCharge> charges, @Nullable Decision decision, long start) {
		if (this.listeners.isEmpty()) {
			return;
		}
		Duration time = Duration.ofNanos(System.nanoTime() - start);
		for (PolicyCharge charge : charges) {
			if (!isShadow(charge) || (decision != null && decision.allowed())) {
				tell(event(charge, (decision != null) ? own(charge, decision) : null, time));
			}
		}
	}

	private PolicyDecision event(PolicyCharge charge, @Nullable Decision own, Duration time) {
		if (own == null) {
			return new PolicyDecision(charge, Outcome.STORE_FAILED_DENIED, Decision.Source.NONE, time, List.of());
		}
		List<LimitStatus> violated = violated(charge, own);
		return new PolicyDecision(charge, outcome(charge, own, violated), source(charge, own), time, violated);
	}

	private static List<LimitStatus> violated(PolicyCharge charge, Decision decision) {
		Policy policy = charge.charge().policy();
		return decision.allowed() ? List.of()
				: decision.violated().stream().filter((status) -> status.policy().equals(policy)).toList();
	}

	private void tell(PolicyDecision decision) {
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
			return (source(charge, decision) == Decision.Source.NONE) ? Outcome.STORE_FAILED_ALLOWED : Outcome.ALLOWED;
		}
		if (isShadow(charge)) {
			return Outcome.SHADOW_DENIED;
		}
		if (decision.blockedFor() != null) {
			return Outcome.BLOCKED;
		}
		return violated.isEmpty() ? Outcome.DENIED_BY_OTHER : Outcome.DENIED;
	}

}
