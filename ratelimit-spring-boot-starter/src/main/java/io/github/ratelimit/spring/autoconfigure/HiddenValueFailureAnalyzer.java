package io.github.ratelimit.spring.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Explains that the URL of Redis is invalid. Comes before Spring Boot's analyzer of
 * invalid properties, which shows the value with its password.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
class InvalidRedisUrlFailureAnalyzer extends AbstractFailureAnalyzer<InvalidRedisUrlException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidRedisUrlException cause) {
		return new FailureAnalysis(
				"Invalid value '%s' for configuration property '%s'. Validation failed for the following reason:%n%n%s"
					.formatted(cause.getValue(), cause.getName(), cause.getReason()),
				"Review the value of the property with the provided reason.", cause);
	}

}
