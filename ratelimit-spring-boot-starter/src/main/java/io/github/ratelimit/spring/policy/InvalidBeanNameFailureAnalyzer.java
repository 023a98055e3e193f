package io.github.ratelimit.spring.policy;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Explains a bean that configuration cannot name.
 */
class InvalidBeanNameFailureAnalyzer extends AbstractFailureAnalyzer<InvalidBeanNameException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidBeanNameException cause) {
		return new FailureAnalysis(cause.getMessage(), "Give the bean '%s' another name.".formatted(cause.getBean()),
				cause);
	}

}
