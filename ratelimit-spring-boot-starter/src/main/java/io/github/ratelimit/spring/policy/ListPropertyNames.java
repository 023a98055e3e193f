package io.github.ratelimit.spring.policy;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.Environment;

/**
 * Names the elements of lists in the way they are written where they come from, so that
 * Spring Boot shows the origin of a wrong one: by their index in a file that has them as
 * a list, by the name of the list where it is one text.
 */
public final class ListPropertyNames {

	/** Numbers in brackets are indices. */
	private static final Pattern CAPITALS = Pattern.compile("\\[([A-Za-z][A-Za-z0-9-]*)]");

	private final Environment environment;

	public ListPropertyNames(Environment environment) {
		this.environment = environment;
	}

	/** Name of an element of the list that is in force. */
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
	 * Returns the forms in which a property may be written: a name with capital letters
	 * is in brackets in messages, but need not be where it comes from.
	 * @return the forms that Spring Boot tells apart; empty if it is no name of a
	 * property
	 */
	static List<ConfigurationPropertyName> spellings(String property) {
		String plain = CAPITALS.matcher(property).replaceAll((name) -> "." + name.group(1).toLowerCase(Locale.ROOT));
		return Stream.of(property, plain)
			.distinct()
			.filter(ConfigurationPropertyName::isValid)
			.map(ConfigurationPropertyName::of)
			.toList();
	}

}
