package io.github.ratelimit.spring.policy;

import io.github.ratelimit.spring.policy.RateLimitProperties.PolicyProperties;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.convert.ConversionException;
import org.springframework.core.env.Environment;

/**
 * Explains how to write the value of a property below {@code ratelimit}; Spring Boot's
 * analyzer only reports that it cannot be converted.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
class WrongTypeFailureAnalyzer extends AbstractFailureAnalyzer<BindException> {

	private static final ConfigurationPropertyName OWN = ConfigurationPropertyName.of("ratelimit");

	private final @Nullable Environment environment;

	WrongTypeFailureAnalyzer(@Nullable Environment environment) {
		this.environment = environment;
	}

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BindException cause) {
		BindException innermost = innermost(cause);
		ConfigurationPropertyName name = innermost.getName();
		String rule = rule(innermost);
		if (rule == null || !OWN.isAncestorOf(name)) {
			return null;
		}
		ConfigurationProperty property = (innermost.getProperty() != null) ? innermost.getProperty() : find(name);
		Class<?> type = innermost.getTarget().getType().resolve(Object.class);
		Object value = (type == RedisProperties.class || property == null) ? "***"
				: HiddenValueException.withoutPassword(property.getValue());
		String origin = (property != null && property.getOrigin() != null)
				? "%n    Origin: %s".formatted(property.getOrigin()) : "";
		return new FailureAnalysis(
				"Invalid value '%s' for configuration property '%s': must be %s.%n%n    Property: %s%n    Value: \"%s\"%s"
					.formatted(value, name, rule, name, value, origin),
				action(name, type, String.valueOf(value), rule), cause);
	}

	/** A text in place of a group has no property in the exception. */
	private @Nullable ConfigurationProperty find(ConfigurationPropertyName name) {
		if (this.environment != null) {
			for (ConfigurationPropertySource source : ConfigurationPropertySources.get(this.environment)) {
				ConfigurationProperty property = source.getConfigurationProperty(name);
				if (property != null) {
					return property;
				}
			}
		}
		return null;
	}

	private static String action(ConfigurationPropertyName name, Class<?> type, String value, String rule) {
		String last = name.getLastElement(Form.DASHED);
		if (type == PolicyProperties.class && PropertyForm.properties(type).contains(last)) {
			return "'%s' is a property of a policy: indent it below the name of the policy, as in '%s.NAME.%s'."
				.formatted(last, name.getParent(), last);
		}
		String action = "Set '%s' to %s.".formatted(name, rule);
		return type.isEnum() ? action + NearestNames.question(value, PropertyForm.constants(type)) : action;
	}

	/**
	 * Returns how to write a value of the expected type.
	 * @return the rule, to follow "must be"; {@code null} if there is none for the type,
	 * or the type is not the reason
	 */
	static @Nullable String rule(BindException ex) {
		return (ex.getProperty() != null || ex.getCause() instanceof ConversionException)
				? PropertyForm.of(ex.getName(), ex.getTarget().getType()) : null;
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
