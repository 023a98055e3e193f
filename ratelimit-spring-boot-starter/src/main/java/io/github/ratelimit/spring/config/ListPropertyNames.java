package io.github.ratelimit.spring.config;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.Environment;

/**
 * Names the elements of lists as they are written in their source, so that Spring Boot
 * shows the origin of a wrong element: by index if the source has a list, by the name of
 * the list if the source has one string.
 */
public final class ListPropertyNames {

	/** Numbers in brackets are indices. */
	private static final Pattern CAPITALS = Pattern.compile("\\[([A-Za-z][A-Za-z0-9-]*)]");

	private final Environment environment;

	public ListPropertyNames(Environment environment) {
		this.environment = environment;
	}

	/** Returns the name of an element of the list that is in effect. */
	public String element(String list, int index) {
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(this.environment)) {
			for (ConfigurationPropertyName whole : spellings(list)) {
				if (source.getConfigurationProperty(whole) != null) {
					return list;
				}
				if (source.getConfigurationProperty(whole.append("[0]")) != null) {
					return list + "[" + index + "]";
				}
			}
		}
		return list + "[" + index + "]";
	}

	/**
	 * Returns the forms in which a property may be written: messages have names with
	 * capital letters in brackets, but their source need not.
	 * @return the forms that Spring Boot distinguishes; empty if the text is not the name
	 * of a property
	 */
	public static List<ConfigurationPropertyName> spellings(String property) {
		String plain = CAPITALS.matcher(property).replaceAll((name) -> "." + name.group(1).toLowerCase(Locale.ROOT));
		return Stream.of(property, plain)
			.distinct()
			.filter(ConfigurationPropertyName::isValid)
			.map(ConfigurationPropertyName::of)
			.toList();
	}

}
