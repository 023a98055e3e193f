package io.github.ratelimit.spring;

import java.io.Serial;
import java.util.stream.Collectors;

import io.github.ratelimit.Decision;

/**
 * Thrown when a call of a method with {@code @RateLimited} is denied. A web application
 * answers it with 429 unless it handles the exception itself.
 *
 * @since 0.1
 */
public class RateLimitExceededException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final transient Decision decision;

	/** Creates an exception for the decision that denied the call. */
	public RateLimitExceededException(Decision decision) {
		this("Rate limit exceeded: " + reason(decision), decision);
	}

	RateLimitExceededException(String message, Decision decision) {
		super(message);
		this.decision = decision;
	}

	private static String reason(Decision decision) {
		if (decision.blockedFor() != null && decision.violated().isEmpty()) {
			return "blocked for " + decision.blockedFor();
		}
		return decision.violated()
			.stream()
			.map((status) -> "%s (%s)".formatted(status.policy().name(), status.limitText()))
			.distinct()
			.collect(Collectors.joining(", "));
	}

	/** Returns the decision, with the violated limits and the time to wait. */
	public Decision getDecision() {
		return this.decision;
	}

}
