package io.github.ratelimit.spring.config;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.spring.decide.NearestNames;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
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
 *
 * @since 0.1
 */
public final class EnvironmentSettings {

	private static final Logger logger = LoggerFactory.getLogger(EnvironmentSettings.class);

	/** Variables that Kubernetes and Docker set in all containers for each service. */
	private static final Pattern SERVICE = Pattern
		.compile("(?i).*_SERVICE_(HOST|PORT(_\\w+)?)|.*_PORT_\\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?");

	private static final Pattern SERVICE_URL = Pattern.compile("(tcp|udp|sctp)://.*");

	private final List<ConfigurationPropertySource> sources = new ArrayList<>();

	/** What is looked for, as variables may name it: with underscores for hyphens. */
	private final Set<String> variables = new HashSet<>();

	private final Set<ConfigurationPropertyName> lists = new LinkedHashSet<>();

	EnvironmentSettings(Iterable<ConfigurationPropertySource> sources) {
		sources.forEach(this.sources::add);
	}

	/** Returns a property of a source, and those below it. */
	public static List<ConfigurationProperty> read(ConfigurationPropertyName name, ConfigurationPropertySource source) {
		Stream<ConfigurationPropertyName> below = (source instanceof IterableConfigurationPropertySource names)
				? names.stream().filter(name::isAncestorOf) : Stream.empty();
		return Stream.concat(Stream.of(name), below)
			.map(source::getConfigurationProperty)
			.filter(Objects::nonNull)
			.toList();
	}

	/** Returns whether whoever starts the application sets the properties of a source. */
	static boolean isOfEnvironment(ConfigurationPropertySource source) {
		return mayBeOfAnother(source) || source.getUnderlyingSource() instanceof CommandLinePropertySource<?>;
	}

	/** Returns whether a source may have settings of other programs, too. */
	static boolean mayBeOfAnother(ConfigurationPropertySource source) {
		return isOfVariables(source.getUnderlyingSource())
				|| isNamed(source.getUnderlyingSource(), StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
	}

	/**
	 * Returns whether a source holds the environment variables, in whose names an
	 * underscore replaces a dot or a hyphen.
	 */
	static boolean isOfVariables(@Nullable Object source) {
		return isNamed(source, StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME);
	}

	private static boolean isNamed(@Nullable Object source, String name) {
		return source instanceof PropertySource<?> properties && properties.getName().equals(name);
	}

	/** Notes a property, or a group of properties, that is looked for. */
	void look(ConfigurationPropertyName name, boolean isList) {
		this.variables.add(variable(name));
		if (isList) {
			this.variables.add(variable(name) + "_0");
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
		boolean hasElements = false;
		for (ConfigurationPropertySource source : this.sources) {
			if (isOfEnvironment(source)) {
				for (ConfigurationProperty property : read(SettingsBinding.OWN, source)) {
					hasElements |= property.getName().toString().contains("[");
					if (mayBeOfAnother(source) && !isKnown(property)) {
						UnknownSetting.find(property)
							.ifPresent((unknown) -> sort(property, unknown, misspelt, ignored));
					}
				}
			}
		}
		if (!misspelt.isEmpty()) {
			throw new UnboundConfigurationPropertiesException(misspelt);
		}
		if (!ignored.isEmpty()) {
			logger.warn("These are not settings of the limiter and have no effect on it: {}",
					String.join(", ", ignored));
		}
		if (hasElements) {
			this.lists.stream().filter((list) -> !logged.contains(list)).forEach((list) -> requireWhole(list, logged));
		}
	}

	private boolean isKnown(ConfigurationProperty property) {
		return UnknownSetting.isVariable(property) && (this.variables.contains(variable(property.getName()))
				|| SERVICE.matcher(written(property)).matches()
				|| SERVICE_URL.matcher(String.valueOf(property.getValue())).matches());
	}

	/** What has two words of which one is right cannot belong to another program. */
	private static void sort(ConfigurationProperty property, UnknownSetting unknown,
			Set<ConfigurationProperty> misspelt, Set<String> ignored) {
		boolean isClose = !unknown.nearest().isEmpty();
		boolean hasWords = property.getName().getNumberOfElements() > 2;
		boolean isOfPolicy = hasWords
				&& !NearestNames.find(property.getName().getElement(1, Form.UNIFORM), List.of("policies")).isEmpty();
		if (isOfPolicy || (UnknownSetting.isVariable(property) ? isClose && hasWords
				: isClose || unknown.parent().length() > 1)) {
			misspelt.add(property);
		}
		else {
			// Without the value, which may be a secret.
			ignored.add(written(property) + (isClose ? " (%s?)".formatted(unknown.nearest().get(0)) : ""));
		}
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
		List<ConfigurationPropertySource> setting = this.sources.stream()
			.filter((source) -> !parts(list, source).isEmpty())
			.limit(2)
			.toList();
		if (setting.size() < 2 || !isOfEnvironment(setting.get(0))
				|| setting.get(0).getConfigurationProperty(list) != null) {
			return;
		}
		Map<String, ConfigurationProperty> present = parts(list, setting.get(0));
		Map<String, ConfigurationProperty> lost = parts(list, setting.get(1));
		lost.keySet().removeAll(present.keySet());
		if (!lost.isEmpty()) {
			logged.add(list);
			logger.warn(
					"{} replaces the whole list {}, so that {} of {} have no effect. Set all elements, or the list as one text",
					present.values().iterator().next().getOrigin(), list,
					lost.keySet().stream().map((part) -> list + part).toList(),
					lost.values().iterator().next().getOrigin());
		}
	}

	/**
	 * Returns the elements of a list in a source, or, of elements that are groups, their
	 * properties.
	 */
	private static Map<String, ConfigurationProperty> parts(ConfigurationPropertyName list,
			ConfigurationPropertySource source) {
		Map<String, ConfigurationProperty> parts = new TreeMap<>();
		ConfigurationProperty text = source.getConfigurationProperty(list);
		if (text != null) {
			int size = StringUtils.commaDelimitedListToStringArray(text.getValue().toString()).length;
			IntStream.range(0, size).forEach((i) -> parts.put("[" + i + "]", text));
			return parts;
		}
		int length = list.getNumberOfElements();
		int before = -1;
		for (int i = 0; parts.size() > before; i++) {
			before = parts.size();
			String element = "[" + i + "]";
			read(list.append(element), source)
				.forEach((part) -> parts.putIfAbsent((part.getName().getNumberOfElements() == length + 1) ? element
						: part.getName().chop(length + 2).subName(length).toString(), part));
		}
		return parts;
	}

}
