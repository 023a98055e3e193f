package io.github.ratelimit.spring.web;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import io.github.ratelimit.spring.policy.ListPropertyNames;
import io.github.ratelimit.spring.policy.PolicyReader;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;

/**
 * Reads the styles of headers by their exact names. Spring Boot would not tell
 * {@code x-rate-limit} from {@code x-ratelimit}, because it ignores hyphens in the names
 * of constants.
 */
final class HeaderStyles {

	private static final String PROPERTY = "ratelimit.headers.styles";

	private static final String NONE = "none";

	private HeaderStyles() {
	}

	static Set<HeaderStyle> read(List<String> names, Environment environment) {
		Set<HeaderStyle> styles = EnumSet.noneOf(HeaderStyle.class);
		if (names.equals(List.of(NONE))) {
			return styles;
		}
		if (names.contains(NONE)) {
			throw new InvalidConfigurationPropertyValueException(PROPERTY, names, "Must be none, or a list of styles.");
		}
		ListPropertyNames properties = new ListPropertyNames(environment);
		for (int i = 0; i < names.size(); i++) {
			String name = names.get(i);
			styles.add(PolicyReader.read(properties.element(PROPERTY, i), name, () -> HeaderStyle.named(name)));
		}
		return styles;
	}

}
