package io.github.ratelimit.spring.config.diagnosis;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import io.github.ratelimit.spring.config.EnvironmentSettings;
import io.github.ratelimit.spring.config.HiddenValueException;
import io.github.ratelimit.spring.config.InvalidBeanException;
import io.github.ratelimit.spring.config.PolicySettings;
import io.github.ratelimit.spring.config.RedisProperties;
import io.github.ratelimit.spring.config.UnknownSetting;
import io.github.ratelimit.spring.decide.IdentifierNames;
import io.github.ratelimit.spring.decide.NearestNames;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.origin.Origin;
import org.springframework.core.Ordered;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.Order;
import org.springframework.core.convert.ConversionException;
import org.springframework.core.env.Environment;

/**
 * Explains settings below {@code ratelimit} and beans that cannot be used, before the
 * analyzers of Spring Boot, which know neither which property was meant nor how its value
 * is written, and show values that must not be shown.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
class SettingsFailureAnalyzer extends AbstractFailureAnalyzer<Throwable> {

	private static final ConfigurationPropertyName OWN = ConfigurationPropertyName.of("ratelimit");

	/** Numbers in brackets are indices. */
	private static final Pattern CAPITALS = Pattern.compile("\\[([A-Za-z][A-Za-z0-9-]*)]");

	private final List<ConfigurationPropertySource> sources;

	SettingsFailureAnalyzer(@Nullable Environment environment) {
		this.sources = (environment == null) ? List.of()
				: StreamSupport.stream(ConfigurationPropertySources.get(environment).spliterator(), false).toList();
	}

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, Throwable cause) {
		InvalidBeanException bean = findCause(rootFailure, InvalidBeanException.class);
		if (bean != null) {
			return new FailureAnalysis(bean.getMessage(), bean.getAction(), bean);
		}
		InvalidConfigurationPropertyValueException invalid = findCause(rootFailure,
				InvalidConfigurationPropertyValueException.class);
		if (invalid != null) {
			return invalidValue(invalid);
		}
		UnboundConfigurationPropertiesException unbound = findCause(rootFailure,
				UnboundConfigurationPropertiesException.class);
		if (unbound != null) {
			return unknownNames(unbound);
		}
		BindException unreadable = findCause(rootFailure, BindException.class);
		return (unreadable != null) ? wrongType(unreadable) : null;
	}

	/**
	 * Says where the value stands, also of a list or a group of properties, which have no
	 * origin themselves.
	 */
	private @Nullable FailureAnalysis invalidValue(InvalidConfigurationPropertyValueException cause) {
		HiddenValueException hidden = (cause instanceof HiddenValueException value) ? value : null;
		if (hidden == null && !cause.getName().startsWith("ratelimit.")) {
			return null;
		}
		List<ConfigurationProperty> set = find(cause);
		Optional<ConfigurationProperty> property = set.stream().findFirst();
		Object value = property.filter((found) -> hidden == null && found.getName().toString().equals(cause.getName()))
			.map(ConfigurationProperty::getValue)
			.orElse(cause.getValue());
		Origin known = (hidden != null) ? hidden.origin() : null;
		String origin = Optional.ofNullable(known)
			.or(() -> property.map(ConfigurationProperty::getOrigin))
			.map(" (originating from '%s')"::formatted)
			.orElse("");
		// Without the values, which may be secrets.
		String others = set.stream()
			.skip(1)
			.filter((other) -> known == null && cause.getValue() != null && other.getOrigin() != null)
			.map((other) -> "%n%nThe property is also set by '%s'.".formatted(other.getOrigin()))
			.collect(Collectors.joining());
		return new FailureAnalysis(
				"Invalid value '%s' for configuration property '%s'%s. Validation failed for the following reason:%n%n%s%s"
					.formatted(value, cause.getName(), origin, cause.getReason(), others),
				"Review the value of the property with the provided reason.", cause);
	}

	/**
	 * Finds in each source a property, or the one below it that has the value, or the
	 * first one below it; for a missing one, the first one beside it, whose source may
	 * have replaced it.
	 */
	private List<ConfigurationProperty> find(InvalidConfigurationPropertyValueException cause) {
		String value = String.valueOf(cause.getValue());
		return this.sources.stream()
			.flatMap((source) -> spellings(cause.getName())
				.map((name) -> EnvironmentSettings.read((cause.getValue() != null) ? name : name.getParent(), source))
				.filter((found) -> !found.isEmpty())
				.limit(1))
			.map((found) -> found.stream()
				.filter((property) -> value.equals(property.getValue())
						|| value.equals(IdentifierNames.withoutSecret(property.getValue().toString())))
				.findFirst()
				// The value of a placeholder is known only where it is bound.
				.or(() -> found.stream().filter((each) -> each.getValue().toString().contains("${")).findFirst())
				.orElse(found.get(0)))
			.toList();
	}

	/**
	 * Returns the forms in which a property may be written: messages have names with
	 * capital letters in brackets, but their source need not.
	 */
	private static Stream<ConfigurationPropertyName> spellings(String property) {
		String plain = CAPITALS.matcher(property).replaceAll((name) -> "." + name.group(1).toLowerCase(Locale.ROOT));
		return Stream.of(property, plain).filter(ConfigurationPropertyName::isValid).map(ConfigurationPropertyName::of);
	}

	private static @Nullable FailureAnalysis unknownNames(UnboundConfigurationPropertiesException cause) {
		if (!cause.getUnboundProperties().stream().map(ConfigurationProperty::getName).allMatch(OWN::isAncestorOf)) {
			return null;
		}
		// Without the value, which may be a secret whose name is misspelt.
		return new FailureAnalysis(cause.getUnboundProperties()
			.stream()
			.map((property) -> "There is no property '%1$s', so it would have no effect:%n%n    Property: %1$s%2$s"
				.formatted(property.getName(), origin(property)))
			.collect(Collectors.joining("%n%n".formatted())),
				cause.getUnboundProperties()
					.stream()
					.map(SettingsFailureAnalyzer::remedy)
					.distinct()
					.collect(Collectors.joining("%n".formatted())),
				cause);
	}

	private static String origin(@Nullable ConfigurationProperty property) {
		return (property != null && property.getOrigin() != null) ? "%n    Origin: %s".formatted(property.getOrigin())
				: "";
	}

	private static String remedy(ConfigurationProperty property) {
		UnknownSetting unknown = UnknownSetting.find(property).orElse(null);
		if (unknown == null) {
			return "Remove '%s'.".formatted(property.getName());
		}
		if (!unknown.nearest().isEmpty()) {
			return NearestNames.question(unknown.nearest());
		}
		ConfigurationPropertyName parent = unknown.parent().name();
		ResolvableType type = unknown.parent().type();
		return type.resolve(Object.class).isRecord()
				? "Remove it, or use one of those below '%s': %s.".formatted(parent,
						String.join(", ", PropertyForm.properties(type.resolve(Object.class))))
				: "Set '%s' to %s.".formatted(parent, PropertyForm.of(parent, type));
	}

	/** Explains how a value is written that cannot be converted. */
	private @Nullable FailureAnalysis wrongType(BindException cause) {
		BindException innermost = innermost(cause);
		ConfigurationPropertyName name = innermost.getName();
		if (!OWN.isAncestorOf(name)
				|| (innermost.getProperty() == null && !(innermost.getCause() instanceof ConversionException))) {
			return null;
		}
		String rule = PropertyForm.of(name, innermost.getTarget().getType());
		if (rule == null) {
			return null;
		}
		// A text in place of a group has no property in the exception.
		ConfigurationProperty property = Optional.ofNullable(innermost.getProperty())
			.or(() -> this.sources.stream()
				.flatMap((source) -> EnvironmentSettings.read(name, source).stream())
				.findFirst())
			.orElse(null);
		Class<?> type = innermost.getTarget().getType().resolve(Object.class);
		Object value = (type == RedisProperties.class || property == null) ? "***"
				: HiddenValueException.withoutPassword(property.getValue());
		String last = name.getLastElement(Form.DASHED);
		String action = (type == PolicySettings.class && PropertyForm.properties(type).contains(last))
				? "'%s' is a property of a policy: indent it below the name of the policy, as in '%s.NAME.%1$s'."
					.formatted(last, name.getParent())
				: "Set '%s' to %s.%s".formatted(name, rule, type.isEnum()
						? NearestNames.question(String.valueOf(value), PropertyForm.constants(type)) : "");
		return new FailureAnalysis(
				"Invalid value '%1$s' for configuration property '%2$s': must be %3$s.%n%n    Property: %2$s%n    Value: \"%1$s\"%4$s"
					.formatted(value, name, rule, origin(property)),
				action, cause);
	}

	/** Returns the cause that names the exact property. */
	private static BindException innermost(BindException ex) {
		BindException innermost = ex;
		for (Throwable cause = ex.getCause(); cause != null; cause = cause.getCause()) {
			innermost = (cause instanceof BindException inner) ? inner : innermost;
		}
		return innermost;
	}

}
