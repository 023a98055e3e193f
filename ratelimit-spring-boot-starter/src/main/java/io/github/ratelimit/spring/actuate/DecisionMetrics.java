package io.github.ratelimit.spring.actuate;

import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;

import io.github.ratelimit.Decision;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.DecisionListener;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.Mode;
import io.github.ratelimit.spring.PolicyDecision;
import io.github.ratelimit.spring.PolicyDecision.Outcome;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import org.jspecify.annotations.Nullable;

/**
 * Counts and times decisions by policy, outcome and source. The number of meters depends
 * on the number of policies, not of identifiers.
 * <p>
 * Safe for use by several threads.
 */
final class DecisionMetrics implements DecisionListener {

	/**
	 * Name of the timer of decisions.
	 */
	public static final String NAME = "ratelimit.decisions";

	private static final int OUTCOMES = Outcome.values().length;

	private static final int SOURCES = Decision.Source.values().length;

	private final MeterRegistry registry;

	/** The timers of each policy, so that a decision only looks them up. */
	private final Map<String, AtomicReferenceArray<@Nullable Timer>> timers = new ConcurrentHashMap<>();

	/**
	 * Creates metrics.
	 * @param registry the registry of the meters
	 */
	public DecisionMetrics(MeterRegistry registry) {
		this.registry = registry;
	}

	/**
	 * Creates the timers of a policy before its first decision, for each possible
	 * outcome, because alerts do not see an increase if the time series did not exist
	 * before. A policy beside it for concurrent calls has timers of its own.
	 * @param policy the policy
	 */
	public void register(IdentifiedPolicy policy) {
		if (policy.concurrent() != null) {
			policy.calls().ifPresent(this::register);
		}
		boolean shadow = policy.enforcement().mode() == Mode.SHADOW;
		for (Outcome outcome : Outcome.values()) {
			boolean possible = switch (outcome) {
				case ALLOWED, STORE_FAILED_ALLOWED -> true;
				case DENIED, DENIED_BY_OTHER, BLOCKED, STORE_FAILED_DENIED -> !shadow;
				case SHADOW_DENIED -> shadow;
			};
			if (possible) {
				boolean failed = outcome == Outcome.STORE_FAILED_ALLOWED || outcome == Outcome.STORE_FAILED_DENIED;
				timer(policy.policy().name(), outcome, failed ? Decision.Source.NONE : Decision.Source.STORE);
			}
		}
		if (!shadow) {
			timer(policy.policy().name(), Outcome.DENIED, Decision.Source.DENIAL_CACHE);
		}
		if (!shadow && policy.policy().lease() != null) {
			timer(policy.policy().name(), Outcome.ALLOWED, Decision.Source.LEASE);
		}
		if (!shadow && policy.enforcement().onStoreFailure() != OnStoreFailure.DENY) {
			timer(policy.policy().name(), Outcome.ALLOWED, Decision.Source.LOCAL);
			timer(policy.policy().name(), Outcome.DENIED, Decision.Source.LOCAL);
		}
	}

	@Override
	public void decided(PolicyDecision decision) {
		timer(decision.policy().policy().name(), decision.outcome(), decision.source()).record(decision.time());
	}

	private Timer timer(String policy, Outcome outcome, Decision.Source source) {
		AtomicReferenceArray<@Nullable Timer> ofPolicy = this.timers.get(policy);
		if (ofPolicy == null) {
			ofPolicy = this.timers.computeIfAbsent(policy, (name) -> new AtomicReferenceArray<>(OUTCOMES * SOURCES));
		}
		int index = outcome.ordinal() * SOURCES + source.ordinal();
		Timer timer = ofPolicy.get(index);
		if (timer == null) {
			timer = Timer.builder(NAME)
				.description("Decisions by policy, and the time they took")
				.tag("policy", policy)
				.tag("outcome", text(outcome))
				.tag("source", text(source))
				.register(this.registry);
			ofPolicy.set(index, timer);
		}
		return timer;
	}

	private static String text(Enum<?> value) {
		return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
