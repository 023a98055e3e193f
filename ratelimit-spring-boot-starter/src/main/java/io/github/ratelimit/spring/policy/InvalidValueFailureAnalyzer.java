package io.github.ratelimit.spring.policy;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.origin.Origin;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/**
 * Reports where an invalid value below {@code ratelimit} comes from if Spring Boot's
 * analyzer cannot: a list or a group of properties has no origin, but its first property
 * has one. It also hides values that must not be shown, whatever their property is.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
class InvalidValueFailureAnalyzer extends AbstractFailureAnalyzer<InvalidConfigurationPropertyValueException> {

	private static final String PREFIX = "ratelimit.";

	private final @Nullable Environment environment;

	InvalidValueFailureAnalyzer(@Nullable Environment environment) {
		this.environment = environment;
	}

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure,
			InvalidConfigurationPropertyValueException cause) {
		boolean own = cause instanceof HiddenValueException || cause instanceof KnownOriginException;
		if (!own && !cause.getName().startsWith(PREFIX)) {
			return null;
		}
		Optional<ConfigurationProperty> property = find(cause.getName(), cause.getValue() == null);
		boolean known = property.isEmpty() || property.get().getName().toString().equals(cause.getName());
		if (known && !own) {
			return null;
		}
		String origin = ((cause instanceof KnownOriginException found) ? Optional.ofNullable(found.origin())
				: property.map(ConfigurationProperty::getOrigin))
			.map(" (originating from '%s')"::formatted)
			.orElse("");
		return new FailureAnalysis(
				"Invalid value '%s' for configuration property '%s'%s. Validation failed for the following reason:%n%n%s"
					.formatted(cause.getValue(), cause.getName(), origin, cause.getReason()),
				"Review the value of the property with the provided reason.", cause);
	}

	/**
	 * Finds the property, or the first one below it. If it is missing, finds one beside
	 * it.
	 */
	private Optional<ConfigurationProperty> find(String name, boolean missing) {
		if (this.environment == null) {
			return Optional.empty();
		}
		Iterable<ConfigurationPropertySource> sources = ConfigurationPropertySources.get(this.environment);
		List<ConfigurationPropertyName> spellings = ListPropertyNames.spellings(name);
		Stream<ConfigurationProperty> exact = spellings.stream().flatMap((spelling) -> exactly(spelling, sources));
		Stream<ConfigurationProperty> below = spellings.stream().flatMap((spelling) -> below(spelling, sources));
		Stream<ConfigurationProperty> beside = spellings.stream()
			.filter((spelling) -> missing)
			.flatMap((spelling) -> below(spelling.getParent(), sources));
		return Stream.of(exact, below, beside).flatMap((found) -> found).findFirst();
	}

	private static Stream<ConfigurationProperty> exactly(ConfigurationPropertyName name,
			Iterable<ConfigurationPropertySource> sources) {
		return StreamSupport.stream(sources.spliterator(), false)
			.map((source) -> source.getConfigurationProperty(name))
			.filter(Objects::nonNull);
	}

	private static Stream<ConfigurationProperty> below(ConfigurationPropertyName name,
			Iterable<ConfigurationPropertySource> sources) {
		return StreamSupport.stream(sources.spliterator(), false)
			.filter(IterableConfigurationPropertySource.class::isInstance)
			.flatMap((source) -> ((IterableConfigurationPropertySource) source).stream()
				.filter(name::isAncestorOf)
				.map(source::getConfigurationProperty)
				.filter(Objects::nonNull));
	}

}
