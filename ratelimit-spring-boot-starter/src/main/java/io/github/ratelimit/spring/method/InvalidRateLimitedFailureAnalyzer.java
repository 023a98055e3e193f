package io.github.ratelimit.spring.method;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Explains an annotation that cannot be enforced.
 */
class InvalidRateLimitedFailureAnalyzer extends AbstractFailureAnalyzer<InvalidRateLimitedException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidRateLimitedException cause) {
		return new FailureAnalysis(cause.getMessage(), "Correct the annotation on " + cause.getPlace() + ".", cause);
	}

}
