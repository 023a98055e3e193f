package io.github.ratelimit.spring.config;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

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
 */
final class EnvironmentSettings {

	private static final Logger logger = LoggerFactory.getLogger(EnvironmentSettings.class);

	private static final ConfigurationPropertyName POLICIES = SettingsBinding.OWN.append("policies");

	/** Variables that Kubernetes and Docker set in all containers for each service. */
	private static final Pattern SERVICE = Pattern
		.compile("(?i).*_SERVICE_(HOST|PORT(_\\w+)?)|.*_PORT_\\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?");

	private static final Pattern SERVICE_URL = Pattern.compile("(tcp|udp|sctp)://.*");

	private final List<ConfigurationPropertySource> sources = new ArrayList<>();

	/** The settings of variables and system properties. */
	private final List<ConfigurationProperty> unchecked = new ArrayList<>();

	private boolean hasElements;

	/** The letters of what is looked for, to find the nearest. */
	private final Set<String> bound = new HashSet<>();

	private final Set<ConfigurationPropertyName> names = new HashSet<>();

	/** The same as variables may name it. */
	private final Set<String> variables = new HashSet<>();

	private final Set<ConfigurationPropertyName> lists = new LinkedHashSet<>();

	EnvironmentSettings(Iterable<ConfigurationPropertySource> sources) {
		for (ConfigurationPropertySource source : sources) {
			this.sources.add(source);
			if (isOfEnvironment(source) && source instanceof IterableConfigurationPropertySource names) {
				names.stream().filter(SettingsBinding.OWN::isAncestorOf).forEach((name) -> add(name, source));
			}
		}
	}

	private void add(ConfigurationPropertyName name, ConfigurationPropertySource source) {
		ConfigurationProperty property = source.getConfigurationProperty(name);
		if (property == null) {
			return;
		}
		this.hasElements |= name.toString().contains("[");
		if (mayBeOfAnother(source)) {
			this.unchecked.add(property);
		}
	}

	private static boolean isOfEnvironment(ConfigurationPropertySource source) {
		return mayBeOfAnother(source) || source.getUnderlyingSource() instanceof CommandLinePropertySource<?>;
	}

	/** Returns whether a source may have settings of other programs, too. */
	static boolean mayBeOfAnother(ConfigurationPropertySource source) {
		return hasVariables(source.getUnderlyingSource())
				|| isNamed(source.getUnderlyingSource(), StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
	}

	/** Returns whether a source holds the environment variables. */
	static boolean hasVariables(@Nullable Object source) {
		return isNamed(source, StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME);
	}

	private static boolean isNamed(@Nullable Object source, String name) {
		return source instanceof PropertySource<?> properties && properties.getName().equals(name);
	}

	/** Notes a property, or a group of properties, that is looked for. */
	void look(ConfigurationPropertyName name) {
		if (!this.unchecked.isEmpty()) {
			this.bound.add(letters(name));
			this.names.add(name);
			this.variables.addAll(variables(name));
		}
	}

	/**
	 * Returns how variables may name it: without hyphens, or with underscores for all.
	 */
	private static Set<String> variables(ConfigurationPropertyName name) {
		return Set.copyOf(List.of(variable(name, ""), variable(name, "_")));
	}

	private static String variable(ConfigurationPropertyName name, String hyphen) {
		return IntStream.range(0, name.getNumberOfElements())
			.mapToObj((i) -> name.isNumericIndex(i) ? "0" : name.getElement(i, Form.ORIGINAL).replace("-", hyphen))
			.collect(Collectors.joining("_"))
			.toLowerCase(Locale.ROOT);
	}

	/** Notes a list. */
	void bind(ConfigurationPropertyName list) {
		if (this.hasElements) {
			this.lists.add(list);
		}
	}

	/** In variables, an underscore may be a dot, a hyphen, or nothing. */
	private static String letters(ConfigurationPropertyName name) {
		StringBuilder letters = new StringBuilder();
		for (int i = 0; i < name.getNumberOfElements(); i++) {
			letters.append(name.isNumericIndex(i) ? "[]" : name.getElement(i, Form.UNIFORM));
		}
		return letters.toString();
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
			ConfigurationPropertyName name = property.getName();
			boolean variable = property.getSource() != null && hasVariables(property.getSource().getUnderlyingSource());
			if (isBound(name, variable) || (variable && isOfService(property))) {
				continue;
			}
			int known = name.getNumberOfElements() - 1;
			while (!this.bound.contains(letters(name.chop(known)))) {
				known--;
			}
			List<String> nearest = nearest(name, known);
			// What has two words of which one is right cannot belong to another program.
			if (POLICIES.isAncestorOf(name) || (variable ? !nearest.isEmpty() && name.getNumberOfElements() > 2
					: !nearest.isEmpty() || known > 1)) {
				misspelt.add(property);
			}
			else {
				// Without the value, which may be a secret.
				ignored.add(variable(property) + (nearest.isEmpty() ? ""
						: " (RATELIMIT_%s?)".formatted(nearest.get(0).toUpperCase(Locale.ROOT))));
			}
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

	/** An element of a list is not looked for if the list is one text elsewhere. */
	private boolean isBound(ConfigurationPropertyName name, boolean variable) {
		return isLookedFor(name, variable) || (name.isLastElementIndexed() && isList(name.getParent(), variable));
	}

	private boolean isLookedFor(ConfigurationPropertyName name, boolean variable) {
		return variable ? this.variables.contains(variable(name, "_")) : this.names.contains(name);
	}

	private boolean isList(ConfigurationPropertyName name, boolean variable) {
		return variable ? this.lists.stream().anyMatch((list) -> variables(list).contains(variable(name, "_")))
				: this.lists.contains(name);
	}

	/**
	 * Returns names below the known part that may be meant by the rest, or its first
	 * word.
	 */
	private List<String> nearest(ConfigurationPropertyName name, int known) {
		String group = letters(name.chop(known));
		List<String> names = this.bound.stream()
			.filter((letters) -> letters.startsWith(group) && letters.length() > group.length())
			.map((letters) -> letters.substring(group.length()))
			.toList();
		List<String> nearest = NearestNames.find(letters(name).substring(group.length()), names);
		return nearest.isEmpty() ? NearestNames.find(name.getElement(known, Form.UNIFORM), names) : nearest;
	}

	private static boolean isOfService(ConfigurationProperty property) {
		return SERVICE.matcher(variable(property)).matches()
				|| SERVICE_URL.matcher(String.valueOf(property.getValue())).matches();
	}

	private static String variable(ConfigurationProperty property) {
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
