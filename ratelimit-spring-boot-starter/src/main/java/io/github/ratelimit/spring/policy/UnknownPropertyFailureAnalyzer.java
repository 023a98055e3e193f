package io.github.ratelimit.spring.policy;

import java.util.Map;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Reports an unknown property below {@code ratelimit} and suggests known ones. Runs
 * before Spring Boot's analyzer, which has no suggestions.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
class UnknownPropertyFailureAnalyzer extends AbstractFailureAnalyzer<UnboundConfigurationPropertiesException> {

	private static final ConfigurationPropertyName OWN = ConfigurationPropertyName.of("ratelimit");

	/** Renamed properties. */
	private static final Map<ConfigurationPropertyName, String> RENAMED = Map
		.of(ConfigurationPropertyName.of("ratelimit.default-identifiers"), "ratelimit.defaults.identifiers");

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, UnboundConfigurationPropertiesException cause) {
		if (!cause.getUnboundProperties().stream().map(ConfigurationProperty::getName).allMatch(OWN::isAncestorOf)) {
			return null;
		}
		String description = cause.getUnboundProperties()
			.stream()
			.map(UnknownPropertyFailureAnalyzer::description)
			.collect(Collectors.joining("%n%n".formatted()));
		String action = cause.getUnboundProperties()
			.stream()
			.map(UnknownPropertyFailureAnalyzer::action)
			.distinct()
			.collect(Collectors.joining("%n".formatted()));
		return new FailureAnalysis(description, action, cause);
	}

	private static String description(ConfigurationProperty property) {
		// Without the value, which may be a secret whose name is misspelt.
		String origin = (property.getOrigin() != null) ? "%n    Origin: %s".formatted(property.getOrigin()) : "";
		return "There is no property '%s', so it would have no effect:%n%n    Property: %s%s"
			.formatted(property.getName(), property.getName(), origin);
	}

	private static String action(ConfigurationProperty property) {
		ConfigurationPropertyName name = property.getName();
		for (Map.Entry<ConfigurationPropertyName, String> renamed : RENAMED.entrySet()) {
			if (renamed.getKey().equals(name) || renamed.getKey().isAncestorOf(name)) {
				return "It has been renamed to '%s'.".formatted(renamed.getValue());
			}
		}
		return UnknownSetting.find(name, EnvironmentSettings.isVariable(property.getSource()))
			.map(UnknownSetting::action)
			.orElse("Remove '%s'.".formatted(name));
	}

}
