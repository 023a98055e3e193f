package io.github.ratelimit.spring.policy;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Explains that a property is invalid whose value may hold a password. Comes before
 * Spring Boot's analyzer of invalid properties, which shows the value as it is.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
class HiddenValueFailureAnalyzer extends AbstractFailureAnalyzer<HiddenValueException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, HiddenValueException cause) {
		return new FailureAnalysis(
				"Invalid value '%s' for configuration property '%s'. Validation failed for the following reason:%n%n%s"
					.formatted(cause.getValue(), cause.getName(), cause.getReason()),
				"Review the value of the property with the provided reason.", cause);
	}

}
