package io.github.ratelimit.spring;

import java.time.Duration;

import io.github.ratelimit.Decision;

/**
 * The outcome of a decision for one of its policies.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param charge the policy, and what the request was to use of it
 * @param outcome the outcome
 * @param source where the decision comes from
 * @param time how long the decision took, for all of its policies together
 * @since 0.1
 */
public record PolicyDecision(PolicyCharge charge, Outcome outcome, Decision.Source source, Duration time) {

}
