package io.github.ratelimit.spring;

import java.time.Duration;

import io.github.ratelimit.Decision;

/**
 * What a decision came to for one of its policies.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param charge the policy, and what was asked of it
 * @param outcome what it came to
 * @param source where the decision comes from
 * @param time how long the decision took, for all of its policies together
 * @since 0.1
 */
public record PolicyDecision(PolicyCharge charge, Outcome outcome, Decision.Source source, Duration time) {

}
