package io.github.ratelimit.spring.method;

import java.io.Serial;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.util.StringUtils;

/**
 * Thrown at startup if a {@code @RateLimited} annotation cannot be enforced.
 */
final class InvalidRateLimitedException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String action;

	/**
	 * Creates an exception.
	 * @param place the class or method with the annotation
	 * @param reason what is wrong with the annotation
	 */
	InvalidRateLimitedException(String place, IllegalArgumentException reason) {
		this(place, reason, "Correct the annotation on " + place + ".");
	}

	private InvalidRateLimitedException(String place, IllegalArgumentException reason, String action) {
		super("Invalid @RateLimited on %s: %s".formatted(place, reason.getMessage()), reason);
		this.action = action;
	}

	/**
	 * Returns an exception for an annotation that is right, but whose calls cannot be
	 * intercepted.
	 * @param remedy what to do, in lower case and without a full stop
	 */
	static InvalidRateLimitedException notIntercepted(String place, String reason, String remedy) {
		return new InvalidRateLimitedException(place, new IllegalArgumentException(reason + "; " + remedy + "."),
				StringUtils.capitalize(remedy) + ".");
	}

	/** Returns an exception for a private, static or final method. */
	static InvalidRateLimitedException notIntercepted(String place, Method method) {
		String modifiers = Stream.of("private", "static", "final")
			.filter(Modifier.toString(method.getModifiers())::contains)
			.map("non-"::concat)
			.collect(Collectors.joining(" and "));
		return notIntercepted(place, "calls of private, static and final methods cannot be intercepted",
				"make the method %s, or annotate a method that other beans call".formatted(modifiers));
	}

	static final class Analyzer extends AbstractFailureAnalyzer<InvalidRateLimitedException> {

		@Override
		protected FailureAnalysis analyze(Throwable rootFailure, InvalidRateLimitedException cause) {
			return new FailureAnalysis(cause.getMessage(), cause.action, cause);
		}

	}

}
