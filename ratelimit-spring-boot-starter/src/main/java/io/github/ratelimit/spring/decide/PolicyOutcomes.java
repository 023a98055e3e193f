package io.github.ratelimit.spring.decide;

import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.outage.OutageRateLimiter;
import io.github.ratelimit.spring.DecisionListener;
import io.github.ratelimit.spring.PolicyDecision;
import io.github.ratelimit.spring.PolicyDecision.Outcome;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.StringUtils;

/**
 * What a decision means for each of its policies. Notifies listeners of it, and logs one
 * line at DEBUG for each policy that denies a request.
 */
final class PolicyOutcomes {

	/** The name is documented. */
	private static final Logger logger = LoggerFactory.getLogger("io.github.ratelimit.denials");

	private static final int LONGEST_IDENTIFIER = 200;

	private final Listeners<DecisionListener> listeners;

	/** Whether there is a listener. */
	private final boolean heard;

	/** Returns an identifier as it may be logged. */
	private final UnaryOperator<Identifier> shown;

	private final OutageRateLimiter limiter;

	PolicyOutcomes(List<DecisionListener> listeners, UnaryOperator<Identifier> shown, OutageRateLimiter limiter) {
		this.listeners = new Listeners<>(() -> List.copyOf(listeners));
		this.heard = !listeners.isEmpty();
		this.shown = shown;
		this.limiter = limiter;
	}

	/**
	 * Notifies the listeners of a decision.
	 * @param decision the decision; {@code null} if the store failed
	 * @param start when it was begun, by {@link System#nanoTime()}
	 */
	void notify(List<PolicyCharge> charges, @Nullable Decision decision, long start) {
		if (!this.heard && !logger.isDebugEnabled()) {
			return;
		}
		Duration time = Duration.ofNanos(System.nanoTime() - start);
		for (PolicyCharge charge : charges) {
			if (!charge.isShadow() || (decision != null && decision.allowed())) {
				PolicyDecision event = event(charge, (decision != null) ? own(charge, decision) : null, time);
				if (logger.isDebugEnabled()) {
					log(event);
				}
				this.listeners.tell((listener) -> listener.decided(event));
			}
		}
	}

	/** Notifies the listeners of a wait for all policies that may deny the request. */
	void waited(List<PolicyCharge> charges, WaitListener.End end, long nanos) {
		charges.stream()
			.filter((charge) -> !charge.isShadow())
			.forEach((charge) -> waited(charge.charge().policy().name(), end, Duration.ofNanos(nanos)));
	}

	void waited(String policy, WaitListener.End end, Duration time) {
		this.listeners.tell((listener) -> {
			if (listener instanceof WaitListener waits) {
				waits.waited(policy, end, time);
			}
		});
	}

	/**
	 * Returns a charge as an allowed request has used it: where it was counted;
	 * {@code null} if it was not, because its policy would deny it, or limits nothing
	 * during an outage.
	 */
	@Nullable PolicyCharge counted(PolicyCharge charge, Decision decision) {
		Decision own = own(charge, decision);
		Decision.Source source = source(charge, own);
		if (!own.allowed() || source == Decision.Source.NONE) {
			return null;
		}
		return charge.countedIn((source == Decision.Source.LEASE) ? Decision.Source.STORE : source);
	}

	private PolicyDecision event(PolicyCharge charge, @Nullable Decision own, Duration time) {
		List<LimitStatus> violated = (own == null || own.allowed()) ? List.of()
				: own.violated().stream().filter((status) -> status.policy().equals(charge.charge().policy())).toList();
		return new PolicyDecision(charge.policy(), charge.charge(), charge.plan(), outcome(charge, own, violated),
				(own != null) ? source(charge, own) : Decision.Source.NONE, time, violated);
	}

	private Outcome outcome(PolicyCharge charge, @Nullable Decision own, List<LimitStatus> violated) {
		if (own == null) {
			return Outcome.STORE_FAILED_DENIED;
		}
		if (own.allowed()) {
			return (source(charge, own) == Decision.Source.NONE) ? Outcome.STORE_FAILED_ALLOWED : Outcome.ALLOWED;
		}
		if (charge.isShadow()) {
			return Outcome.SHADOW_DENIED;
		}
		if (own.blockedFor() != null) {
			return Outcome.BLOCKED;
		}
		return violated.isEmpty() ? Outcome.DENIED_BY_OTHER : Outcome.DENIED;
	}

	/** Returns what a decision over several policies means for the policy of a charge. */
	private static Decision own(PolicyCharge charge, Decision decision) {
		return charge.isShadow() ? decision.shadow(charge.charge()) : decision;
	}

	/**
	 * Returns where a charge was decided. During an outage, policies that are not limited
	 * locally are allowed if those that are allow the request. If the store is only busy,
	 * all policies are limited.
	 */
	private Decision.Source source(PolicyCharge charge, Decision own) {
		boolean unlimited = own.source() == Decision.Source.LOCAL && own.allowed()
				&& this.limiter.failingSince().isPresent()
				&& charge.policy().enforcement().whenStoreFails() != OnStoreFailure.LOCAL;
		return unlimited ? Decision.Source.NONE : own.source();
	}

	private void log(PolicyDecision decision) {
		String policy = decision.policy().policy().name();
		switch (decision.outcome()) {
			case DENIED -> logger.debug("Policy {} denied {}", policy, violated(decision));
			case SHADOW_DENIED -> logger.debug("Policy {} would deny {} (mode: shadow)", policy, violated(decision));
			case BLOCKED -> logger.debug("Policy {} denied {}: blocked", policy, identifiers(decision));
			case STORE_FAILED_DENIED ->
				logger.debug("Policy {} denied {}: the store failed", policy, identifiers(decision));
			case ALLOWED, DENIED_BY_OTHER, STORE_FAILED_ALLOWED -> {
			}
		}
	}

	/** Returns the limits and whom they deny; all identifiers if one is only blocked. */
	private String violated(PolicyDecision decision) {
		return decision.violated().isEmpty() ? identifiers(decision)
				: decision.violated()
					.stream()
					.map((status) -> "%s (%s)".formatted(text(status.identifier()), status.limit()))
					.collect(Collectors.joining(", "));
	}

	private String identifiers(PolicyDecision decision) {
		return decision.charge().identifiers().stream().map(this::text).collect(Collectors.joining(", "));
	}

	/** A client may choose the value: it must not forge or fill the log. */
	private String text(Identifier identifier) {
		if (identifier.equals(Identifier.GLOBAL)) {
			return identifier.type();
		}
		return StringUtils.truncate(this.shown.apply(identifier).toString(), LONGEST_IDENTIFIER)
			.replaceAll("[\\p{C}\\p{Zl}\\p{Zp}]", "?");
	}

}
