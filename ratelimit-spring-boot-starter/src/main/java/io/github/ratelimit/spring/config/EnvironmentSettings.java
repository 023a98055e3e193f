package io.github.ratelimit.spring.config;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.TreeMap;
import java.util.TreeSet;

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
		return property.getName().getNumberOfElements() > 2
				&& !NearestNames.find(property.getName().getElement(1, Form.UNIFORM), List.of("policies")).isEmpty();
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
		Map<String, ConfigurationProperty> present = null;
		for (ConfigurationPropertySource source : this.sources) {
			Map<String, ConfigurationProperty> parts = parts(list, source);
			if (parts.isEmpty()) {
				continue;
			}
			if (present != null) {
				Map<String, ConfigurationProperty> lost = new LinkedHashMap<>(parts);
				lost.keySet().removeAll(present.keySet());
				if (!lost.isEmpty()) {
					logged.add(list);
					logger.warn(
							"{} replaces the whole list {}, so that {} of {} have no effect. Set all elements, or the list as one text",
							present.values().iterator().next().getOrigin(), list,
							lost.keySet().stream().map((part) -> list + part).toList(),
							lost.values().iterator().next().getOrigin());
				}
				return;
			}
			if (!isOfEnvironment(source) || source.getConfigurationProperty(list) != null) {
				return;
			}
			present = parts;
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
			for (int i = 0; i < size; i++) {
				parts.put("[" + i + "]", text);
			}
			return parts;
		}
		int before = -1;
		for (int i = 0; parts.size() > before; i++) {
			before = parts.size();
			ConfigurationPropertyName element = list.append("[" + i + "]");
			ConfigurationProperty value = source.getConfigurationProperty(element);
			if (value != null) {
				parts.put("[" + i + "]", value);
			}
			else if (source instanceof IterableConfigurationPropertySource names) {
				int next = element.getNumberOfElements();
				names.stream()
					.filter(element::isAncestorOf)
					.forEach((name) -> Optional.ofNullable(source.getConfigurationProperty(name))
						.ifPresent(
								(part) -> parts.putIfAbsent(name.chop(next + 1).subName(next - 1).toString(), part)));
			}
		}
		return parts;
	}

}
