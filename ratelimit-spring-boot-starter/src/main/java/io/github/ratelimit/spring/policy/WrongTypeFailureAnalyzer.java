package io.github.ratelimit.spring.policy;

import java.time.Duration;
import java.time.ZoneId;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.util.ClassUtils;

/**
 * Explains how to write the value of a property below {@code ratelimit}; Spring Boot's
 * analyzer only reports that it cannot be converted.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
class WrongTypeFailureAnalyzer extends AbstractFailureAnalyzer<BindException> {

	private static final ConfigurationPropertyName OWN = ConfigurationPropertyName.of("ratelimit");

	private static final Map<Class<?>, String> RULES = Map.of(Duration.class,
			"a duration such as 100ms, 10s, 5m, 1h or 1d", ZoneId.class, "a time zone such as Europe/Paris or UTC",
			Long.class, "a whole number", Integer.class, "a whole number", Double.class, "a number such as 0.5",
			Boolean.class, "true or false");

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BindException cause) {
		BindException innermost = innermost(cause);
		ConfigurationProperty property = innermost.getProperty();
		String rule = rule(innermost);
		if (property == null || rule == null || !OWN.isAncestorOf(property.getName())) {
			return null;
		}
		String origin = (property.getOrigin() != null) ? "%n    Origin: %s".formatted(property.getOrigin()) : "";
		Throwable reason = NestedExceptionUtils.getMostSpecificCause(innermost);
		return new FailureAnalysis(
				"Invalid value '%s' for configuration property '%s': must be %s.%n%n    Property: %s%n    Value: \"%s\"%s%n    Reason: %s"
					.formatted(property.getValue(), property.getName(), rule, property.getName(), property.getValue(),
							origin, reason.getMessage()),
				"Set '%s' to %s.".formatted(property.getName(), rule), cause);
	}

	/**
	 * Returns how to write a value of the expected type.
	 * @return the rule, to follow "must be"; {@code null} if there is none for the type
	 */
	static @Nullable String rule(BindException ex) {
		Class<?> type = ex.getTarget().getType().resolve(Object.class);
		return type.isEnum()
				? Stream.of(type.getEnumConstants())
					.map((constant) -> ((Enum<?>) constant).name().toLowerCase(Locale.ROOT).replace('_', '-'))
					.collect(Collectors.joining(", ", "one of ", ""))
				: RULES.get(ClassUtils.resolvePrimitiveIfNecessary(type));
	}

	/** Returns the cause that names the exact property. */
	static BindException innermost(BindException ex) {
		BindException innermost = ex;
		for (Throwable cause = ex.getCause(); cause != null; cause = cause.getCause()) {
			if (cause instanceof BindException inner) {
				innermost = inner;
			}
		}
		return innermost;
	}

}
