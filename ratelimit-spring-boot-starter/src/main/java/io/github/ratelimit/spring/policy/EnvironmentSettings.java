package io.github.ratelimit.spring.policy;

import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;

/**
 * Refuses misspelt settings in environment variables and system properties, which Spring
 * Boot does not check. Settings that may belong to another program are only logged.
 */
final class EnvironmentSettings {

	private static final Logger logger = LoggerFactory.getLogger(EnvironmentSettings.class);

	private static final ConfigurationPropertyName OWN = ConfigurationPropertyName.of("ratelimit");

	private static final ConfigurationPropertyName POLICIES = OWN.append("policies");

	/** Variables that Kubernetes and Docker set in all containers for each service. */
	private static final Pattern SERVICE = Pattern
		.compile("(?i).*_SERVICE_(HOST|PORT(_\\w+)?)|.*_PORT_\\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?");

	private static final Pattern SERVICE_URL = Pattern.compile("(tcp|udp|sctp)://.*");

	private final Set<ConfigurationProperty> misspelt = new TreeSet<>();

	private final Set<String> ignored = new TreeSet<>();

	/**
	 * Checks the settings.
	 * @throws UnboundConfigurationPropertiesException if one of them is misspelt
	 */
	EnvironmentSettings(Environment environment) {
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
			boolean variable = isVariable(source);
			if ((variable || isNamed(source, StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME))
					&& source instanceof IterableConfigurationPropertySource names) {
				names.stream().filter(OWN::isAncestorOf).forEach((name) -> look(name, source, variable));
			}
			else {
				requireGroup(source.getConfigurationProperty(OWN));
			}
		}
		if (!this.misspelt.isEmpty()) {
			throw new UnboundConfigurationPropertiesException(this.misspelt);
		}
		if (!this.ignored.isEmpty()) {
			logger.warn("These are not settings of the limiter and have no effect on it: {}",
					String.join(", ", this.ignored));
		}
	}

	/** Spring Boot ignores a text in place of all properties. */
	private static void requireGroup(@Nullable ConfigurationProperty property) {
		if (property != null && !property.getValue().toString().isBlank()) {
			throw new HiddenValueException(OWN.toString(),
					HiddenValueException.withoutPassword(property.getValue()).toString(),
					"Must be a group of properties such as { policies: { search: { limits: 10/s } } }.");
		}
	}

	/** Returns whether a source holds the environment variables. */
	static boolean isVariable(@Nullable ConfigurationPropertySource source) {
		return source != null && isNamed(source, StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME);
	}

	private static boolean isNamed(ConfigurationPropertySource source, String name) {
		return source.getUnderlyingSource() instanceof PropertySource<?> properties
				&& properties.getName().equals(name);
	}

	private void look(ConfigurationPropertyName name, ConfigurationPropertySource source, boolean variable) {
		ConfigurationProperty property = source.getConfigurationProperty(name);
		Optional<UnknownSetting> unknown = UnknownSetting.find(name, variable);
		if (property == null || unknown.isEmpty() || (variable && isOfService(property))) {
			return;
		}
		if (variable ? isOurVariable(name, unknown.get()) : isOurProperty(unknown.get())) {
			this.misspelt.add(property);
		}
		else {
			this.ignored.add(text(property, unknown.get()));
		}
	}

	/**
	 * Returns whether a variable cannot belong to another program: it is that of a
	 * policy, or has two words of which one is right and the other nearly right.
	 */
	private static boolean isOurVariable(ConfigurationPropertyName name, UnknownSetting unknown) {
		return (POLICIES.isAncestorOf(name) && unknown.index() > POLICIES.getNumberOfElements())
				|| (unknown.isMisspelt() && name.getNumberOfElements() > POLICIES.getNumberOfElements());
	}

	/**
	 * Builds and scripts may have properties with the same prefix, such as one for a
	 * version.
	 */
	private static boolean isOurProperty(UnknownSetting unknown) {
		return unknown.isMisspelt() || unknown.index() > OWN.getNumberOfElements();
	}

	private static boolean isOfService(ConfigurationProperty property) {
		return SERVICE.matcher(variable(property)).matches()
				|| SERVICE_URL.matcher(String.valueOf(property.getValue())).matches();
	}

	/** Leaves out the value, which may be a secret. */
	private static String text(ConfigurationProperty property, UnknownSetting unknown) {
		return unknown.isMisspelt() ? "%s (%s?)".formatted(variable(property), String.join(" or ", unknown.nearest()))
				: variable(property);
	}

	private static String variable(ConfigurationProperty property) {
		return (property.getOrigin() instanceof PropertySourceOrigin origin) ? origin.getPropertyName()
				: property.getName().toString();
	}

}
