package io.github.ratelimit.spring.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Explains a bean that cannot be an identifier.
 */
class InvalidIdentifierBeanFailureAnalyzer extends AbstractFailureAnalyzer<InvalidIdentifierBeanException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidIdentifierBeanException cause) {
		return new FailureAnalysis(cause.getMessage(), "Give the bean '%s' another name.".formatted(cause.getBean()),
				cause);
	}

}
