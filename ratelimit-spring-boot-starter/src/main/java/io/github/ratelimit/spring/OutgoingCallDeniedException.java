package io.github.ratelimit.spring;

import java.io.Serial;
import java.util.stream.Collectors;

import io.github.ratelimit.Decision;
import io.github.ratelimit.LimitStatus;

/**
 * Thrown when a call to another service that {@link OutgoingRateLimits} limit is denied:
 * by a limit, or because the other service has asked to wait. Whoever is being served
 * meanwhile has done nothing wrong, so a web application answers with 503 unless it
 * handles the exception itself. The log warns of that once for each policy.
 *
 * @since 0.1
 */
public class OutgoingCallDeniedException extends RateLimitExceededException {

	@Serial
	private static final long serialVersionUID = 1L;

	/** Creates an exception for the decision of a policy that denied the call. */
	public OutgoingCallDeniedException(String policy, Decision decision) {
		super("Outgoing call denied by the policy '%s'%s%s".formatted(policy, limits(decision), wait(decision)),
				decision);
	}

	private static String limits(Decision decision) {
		return decision.violated().isEmpty() ? ""
				: decision.violated()
					.stream()
					.map(LimitStatus::limitText)
					.distinct()
					.collect(Collectors.joining(", ", " (", ")"));
	}

	/** A second that has begun counts as a whole one. */
	private static String wait(Decision decision) {
		return decision.retryAfter()
			.map((time) -> "; try again in " + time.plusSeconds(1).minusNanos(1).toSeconds() + " s")
			.orElse("");
	}

}
