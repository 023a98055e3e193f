package io.github.ratelimit.spring.config;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.spring.decide.NearestNames;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.core.env.CommandLinePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.util.StringUtils;

/**
 * The settings in environment variables, system properties and arguments. Spring Boot
 * does not check the names of the first two, and lets a single element replace a whole
 * list: {@code LIMITS_0=5/s} leaves one limit of three.
 */
final class EnvironmentSettings {

	private static final Logger logger = LoggerFactory.getLogger(EnvironmentSettings.class);

	/** Variables that Kubernetes and Docker set in all containers for each service. */
	private static final Pattern SERVICE = Pattern
		.compile("(?i).*_SERVICE_(HOST|PORT(_\\w+)?)|.*_PORT_\\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?");

	private static final Pattern SERVICE_URL = Pattern.compile("(tcp|udp|sctp)://.*");

	private final List<ConfigurationPropertySource> sources = new ArrayList<>();

	/** The settings of variables and system properties. */
	private final List<ConfigurationProperty> unchecked = new ArrayList<>();

	private boolean hasElements;

	/** What is looked for, as variables may name it: with underscores for hyphens. */
	private final Set<String> variables = new HashSet<>();

	private final Set<ConfigurationPropertyName> lists = new LinkedHashSet<>();

	EnvironmentSettings(Iterable<ConfigurationPropertySource> sources) {
		for (ConfigurationPropertySource source : sources) {
			this.sources.add(source);
			if (isOfEnvironment(source)) {
				below(SettingsBinding.OWN, source).forEach((name) -> {
					this.hasElements |= name.toString().contains("[");
					if (mayBeOfAnother(source)) {
						this.unchecked.add(Objects.requireNonNull(source.getConfigurationProperty(name)));
					}
				});
			}
		}
	}

	/** Returns the names of values below a name. */
	private static Stream<ConfigurationPropertyName> below(ConfigurationPropertyName name,
			ConfigurationPropertySource source) {
		return (source instanceof IterableConfigurationPropertySource names)
				? names.stream()
					.filter((below) -> name.isAncestorOf(below) && source.getConfigurationProperty(below) != null)
				: Stream.empty();
	}

	private static boolean isOfEnvironment(ConfigurationPropertySource source) {
		return mayBeOfAnother(source) || source.getUnderlyingSource() instanceof CommandLinePropertySource<?>;
	}

	/** Returns whether a source may have settings of other programs, too. */
	static boolean mayBeOfAnother(ConfigurationPropertySource source) {
		return UnknownSetting.isOfVariables(source.getUnderlyingSource())
				|| source.getUnderlyingSource() instanceof PropertySource<?> properties
						&& properties.getName().equals(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
	}

	/** Notes a property, or a group of properties, that is looked for. */
	void look(ConfigurationPropertyName name, boolean isList) {
		if (!this.unchecked.isEmpty()) {
			this.variables.add(variable(name));
			if (isList) {
				this.variables.add(variable(name) + "_0");
			}
		}
		if (isList && this.hasElements) {
			this.lists.add(name);
		}
	}

	private static String variable(ConfigurationPropertyName name) {
		return IntStream.range(0, name.getNumberOfElements())
			.mapToObj((i) -> name.isNumericIndex(i) ? "0" : name.getElement(i, Form.ORIGINAL).replace('-', '_'))
			.collect(Collectors.joining("_"))
			.toLowerCase(Locale.ROOT);
	}

	/**
	 * Refuses misspelt names once all properties are bound, and logs those that may
	 * belong to another program.
	 * @param logged the lists that have been reported
	 * @throws UnboundConfigurationPropertiesException if one of them is misspelt
	 */
	void check(Set<ConfigurationPropertyName> logged) {
		Set<ConfigurationProperty> misspelt = new TreeSet<>();
		Set<String> ignored = new TreeSet<>();
		for (ConfigurationProperty property : this.unchecked) {
			boolean variable = UnknownSetting.isVariable(property);
			if (variable && (this.variables.contains(variable(property.getName())) || isOfService(property))) {
				continue;
			}
			UnknownSetting.find(property).ifPresent((unknown) -> {
				boolean isClose = !unknown.nearest().isEmpty();
				// What has two words of which one is right cannot belong to another
				// program.
				if (isOfPolicy(property) || (variable ? isClose && property.getName().getNumberOfElements() > 2
						: isClose || unknown.parent().length() > 1)) {
					misspelt.add(property);
				}
				else {
					// Without the value, which may be a secret.
					ignored.add(written(property) + (isClose ? " (%s?)".formatted(unknown.nearest().get(0)) : ""));
				}
			});
		}
		if (!misspelt.isEmpty()) {
			throw new UnboundConfigurationPropertiesException(misspelt);
		}
		if (!ignored.isEmpty()) {
			logger.warn("These are not settings of the limiter and have no effect on it: {}",
					String.join(", ", ignored));
		}
		this.lists.stream().filter((list) -> !logged.contains(list)).forEach((list) -> requireWhole(list, logged));
	}

	private static boolean isOfPolicy(ConfigurationProperty property) {
		return !NearestNames.find(property.getName().getElement(1, Form.UNIFORM), List.of("policies")).isEmpty();
	}

	private static boolean isOfService(ConfigurationProperty property) {
		return SERVICE.matcher(written(property)).matches()
				|| SERVICE_URL.matcher(String.valueOf(property.getValue())).matches();
	}

	private static String written(ConfigurationProperty property) {
		return (property.getOrigin() instanceof PropertySourceOrigin origin) ? origin.getPropertyName()
				: property.getName().toString();
	}

	/**
	 * Logs a list that the environment sets by its elements, and the next source has with
	 * more of them. A list that is replaced by one text is meant to be, and so is one
	 * that a file replaces.
	 */
	private void requireWhole(ConfigurationPropertyName list, Set<ConfigurationPropertyName> logged) {
		List<ConfigurationPropertySource> having = this.sources.stream()
			.filter((source) -> first(list, source).isPresent())
			.limit(2)
			.toList();
		if (having.size() < 2 || !isOfEnvironment(having.get(0))
				|| having.get(0).getConfigurationProperty(list) != null) {
			return;
		}
		List<ConfigurationPropertyName> lost = parts(list, having.get(1)).sorted()
			.filter((part) -> having.get(0).getConfigurationProperty(part) == null)
			.toList();
		if (!lost.isEmpty()) {
			logged.add(list);
			logger.warn(
					"{} replaces the whole list {}, so that {} of {} have no effect. Set all elements, or the list as one text",
					first(list, having.get(0)).orElseThrow().getOrigin(), list, lost,
					first(list, having.get(1)).orElseThrow().getOrigin());
		}
	}

	/** Returns the first property of a list: its text, its first element, or a part. */
	private static Optional<ConfigurationProperty> first(ConfigurationPropertyName list,
			ConfigurationPropertySource source) {
		// Elements of variables are not below the list if its name has a hyphen.
		return Stream
			.concat(Stream.of(list, list.append("[0]")),
					(source.containsDescendantOf(list) == ConfigurationPropertyState.PRESENT) ? below(list, source)
							: Stream.empty())
			.map(source::getConfigurationProperty)
			.filter(Objects::nonNull)
			.findFirst();
	}

	/**
	 * Returns the elements of a list in a source, or, of elements that are groups, their
	 * properties.
	 */
	private static Stream<ConfigurationPropertyName> parts(ConfigurationPropertyName list,
			ConfigurationPropertySource source) {
		ConfigurationProperty text = source.getConfigurationProperty(list);
		return (text != null)
				? IntStream.range(0, StringUtils.commaDelimitedListToStringArray(text.getValue().toString()).length)
					.mapToObj((i) -> list.append("[" + i + "]"))
				: below(list, source).map((name) -> name.chop(list.getNumberOfElements() + 2)).distinct();
	}

}
