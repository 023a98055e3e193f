package io.github.ratelimit.spring.actuate;

import io.github.ratelimit.Block;
import io.github.ratelimit.PenaltyListener;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.Mode;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * Counts the penalties that this instance has made, by policy and by whether they block.
 * <p>
 * Safe for use by several threads.
 */
final class PenaltyMetrics implements PenaltyListener {

	/**
	 * Name of the counter of penalties.
	 */
	static final String NAME = "ratelimit.penalties";

	private final MeterRegistry registry;

	/**
	 * Creates metrics.
	 * @param registry the registry of the meters
	 */
	public PenaltyMetrics(MeterRegistry registry) {
		this.registry = registry;
	}

	/**
	 * Creates the counter of a policy before its first penalty, because alerts do not see
	 * an increase if the time series did not exist before.
	 * @param policy the policy; nothing is created if it has no penalty
	 */
	public void register(IdentifiedPolicy policy) {
		Policy own = policy.policy();
		if (own.penalty() != null) {
			counter(own.name(), own.penalty().shadow() || policy.enforcement().mode() == Mode.SHADOW);
		}
	}

	@Override
	public void penalized(Block block, boolean shadow) {
		counter(String.valueOf(block.policy()), shadow).increment();
	}

	private Counter counter(String policy, boolean shadow) {
		return Counter.builder(NAME)
			.description("Identifiers that were denied too often, by policy")
			.tag("policy", policy)
			.tag("mode", shadow ? "shadow" : "enforce")
			.register(this.registry);
	}

}
