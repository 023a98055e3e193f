package io.github.ratelimit.spring.policy;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Explains a bean that cannot be used.
 */
class InvalidBeanFailureAnalyzer extends AbstractFailureAnalyzer<InvalidBeanException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidBeanException cause) {
		return new FailureAnalysis(cause.getMessage(), cause.getAction(), cause);
	}

}
