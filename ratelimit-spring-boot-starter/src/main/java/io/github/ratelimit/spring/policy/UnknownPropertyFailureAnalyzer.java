package io.github.ratelimit.spring.policy;

import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.PropertyMatches;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.Order;
import org.springframework.util.StringUtils;

/**
 * Explains that there is no such property below {@code ratelimit}, and what may have been
 * meant. Comes before Spring Boot's analyzer, which knows of no others.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
class UnknownPropertyFailureAnalyzer extends AbstractFailureAnalyzer<UnboundConfigurationPropertiesException> {

	private static final ConfigurationPropertyName OWN = ConfigurationPropertyName.of("ratelimit");

	/** What has another name now. */
	private static final Map<ConfigurationPropertyName, String> RENAMED = Map
		.of(ConfigurationPropertyName.of("ratelimit.default-identifiers"), "ratelimit.defaults.identifiers");

	/** How many letters may be wrong: first few, then more. */
	private static final int[] DISTANCES = { 2, 3 };

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
			.map((property) -> action(property.getName()))
			.collect(Collectors.joining("%n".formatted()));
		return new FailureAnalysis(description, action, cause);
	}

	private static String description(ConfigurationProperty property) {
		// Not the value: nobody knows what it is, and a misspelt secret is one all the
		// same.
		String origin = (property.getOrigin() != null) ? "%n    Origin: %s".formatted(property.getOrigin()) : "";
		return "There is no property '%s', so it would have no effect:%n%n    Property: %s%s"
			.formatted(property.getName(), property.getName(), origin);
	}

	private static String action(ConfigurationPropertyName name) {
		for (Map.Entry<ConfigurationPropertyName, String> renamed : RENAMED.entrySet()) {
			if (renamed.getKey().equals(name) || renamed.getKey().isAncestorOf(name)) {
				return "Rename it: it is '%s' now.".formatted(renamed.getValue());
			}
		}
		ResolvableType type = ResolvableType.forClass(RateLimitProperties.class);
		for (int i = 1; i < name.getNumberOfElements(); i++) {
			Class<?> raw = type.resolve(Object.class);
			if (Map.class.isAssignableFrom(raw)) {
				type = type.getGeneric(1);
			}
			else if (Collection.class.isAssignableFrom(raw)) {
				type = type.getGeneric(0);
			}
			else if (raw.isRecord()) {
				RecordComponent component = find(raw, name.getElement(i, Form.UNIFORM));
				if (component == null) {
					return action(name, i, raw);
				}
				type = ResolvableType.forMethodReturnType(component.getAccessor());
			}
			else {
				return "Remove '%s': '%s' is a single value.".formatted(name, name.chop(i));
			}
		}
		return "Remove '%s'.".formatted(name);
	}

	private static @Nullable RecordComponent find(Class<?> type, String uniform) {
		return Stream.of(type.getRecordComponents())
			.filter((component) -> component.getName().equalsIgnoreCase(uniform))
			.findFirst()
			.orElse(null);
	}

	private static String action(ConfigurationPropertyName name, int index, Class<?> type) {
		String parent = name.chop(index).toString();
		String[] words = name.getElement(index, Form.DASHED).split("-");
		String property = words[0]
				+ Stream.of(words).skip(1).map(StringUtils::capitalize).collect(Collectors.joining());
		List<String> matches = IntStream.of(DISTANCES)
			.mapToObj((distance) -> PropertyMatches.forField(property, type, distance).getPossibleMatches())
			.filter((found) -> found.length > 0)
			.findFirst()
			.map(Arrays::asList)
			.orElse(List.of());
		if (!matches.isEmpty()) {
			return "Did you mean %s?".formatted(matches.stream()
				.map((match) -> "'" + parent + "." + DataObjectPropertyName.toDashedForm(match) + "'")
				.collect(Collectors.joining(" or ")));
		}
		return "Remove it, or use one of those below '%s': %s.".formatted(parent,
				Stream.of(type.getRecordComponents())
					.map((component) -> DataObjectPropertyName.toDashedForm(component.getName()))
					.sorted()
					.collect(Collectors.joining(", ")));
	}

}
