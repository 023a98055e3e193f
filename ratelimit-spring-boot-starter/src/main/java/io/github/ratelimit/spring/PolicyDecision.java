package io.github.ratelimit.spring;

import java.time.Duration;
import java.util.List;

import io.github.ratelimit.Decision;
import io.github.ratelimit.LimitStatus;

/**
 * What a decision came to for one of its policies.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param charge the policy, and what was asked of it
 * @param outcome what it came to
 * @param source where the decision comes from
 * @param time how long the decision took, for all of its policies together
 * @param violated the limits of the policy that denied the request, or would have in
 * shadow mode, each with whom it has denied; empty if none has, as when an identifier is
 * only blocked
 * @since 0.1
 */
public record PolicyDecision(PolicyCharge charge, Outcome outcome, Decision.Source source, Duration time,
		List<LimitStatus> violated) {

	/**
	 * Creates a decision.
	 */
	public PolicyDecision {
		violated = List.copyOf(violated);
	}

}
