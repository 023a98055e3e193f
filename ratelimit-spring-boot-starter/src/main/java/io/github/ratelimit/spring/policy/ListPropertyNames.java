package io.github.ratelimit.spring.policy;

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

	private final Environment environment;

	public ListPropertyNames(Environment environment) {
		this.environment = environment;
	}

	/** Name of an element of the list that is in force. */
	public String element(String list, int index) {
		ConfigurationPropertyName whole = ConfigurationPropertyName.of(list);
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(this.environment)) {
			if (source.getConfigurationProperty(whole) != null) {
				return list;
			}
			if (source.getConfigurationProperty(whole.append("[0]")) != null) {
				break;
			}
		}
		return list + "[" + index + "]";
	}

}
