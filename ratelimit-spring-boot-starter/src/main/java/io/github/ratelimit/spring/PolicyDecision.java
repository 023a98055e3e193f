package io.github.ratelimit.spring;

import java.time.Duration;
import java.util.List;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a decision for one of its policies.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param policy the policy, for the plan of the caller
 * @param charge what the request was to use of it
 * @param plan the plan of the caller; {@code null} if there is none, or the policy has no
 * such plan
 * @param outcome the outcome
 * @param source where the decision comes from
 * @param time how long the decision took, for all of its policies together
 * @param violated the limits of the policy that denied the request, or would have in
 * shadow mode, each with the denied identifier; empty if there are none, for example
 * because an identifier is only blocked
 * @since 0.1
 */
public record PolicyDecision(IdentifiedPolicy policy, Charge charge, @Nullable String plan, Outcome outcome,
		Decision.Source source, Duration time, List<LimitStatus> violated) {

	/** Creates a decision. */
	public PolicyDecision {
		violated = List.copyOf(violated);
	}

	/** How a decision ended for one of its policies. */
	public enum Outcome {

		/** The request was allowed and counted. */
		ALLOWED,

		/** A limit of the policy denied the request. */
		DENIED,

		/** The policy would have allowed the request, but another policy denied it. */
		DENIED_BY_OTHER,

		/** An identifier of the request is blocked. */
		BLOCKED,

		/** The policy is in shadow mode, and a limit would have denied the request. */
		SHADOW_DENIED,

		/** The store failed, and the request was allowed without limits. */
		STORE_FAILED_ALLOWED,

		/** The store failed, and the request was denied because of that. */
		STORE_FAILED_DENIED

	}

}
