package io.github.ratelimit.spring.method;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Explains an annotation that cannot be enforced.
 */
class InvalidRateLimitedFailureAnalyzer extends AbstractFailureAnalyzer<InvalidRateLimitedException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidRateLimitedException cause) {
		String bean = beanName(rootFailure, cause);
		return new FailureAnalysis(
				(bean != null) ? "%s%n%n    Bean: %s".formatted(cause.getMessage(), bean) : cause.getMessage(),
				cause.getAction(), cause);
	}

	private static @Nullable String beanName(Throwable rootFailure, Throwable cause) {
		String name = null;
		for (Throwable failure = rootFailure; failure != null && failure != cause; failure = failure.getCause()) {
			if (failure instanceof BeanCreationException creation && creation.getBeanName() != null) {
				name = creation.getBeanName();
			}
		}
		return name;
	}

}
