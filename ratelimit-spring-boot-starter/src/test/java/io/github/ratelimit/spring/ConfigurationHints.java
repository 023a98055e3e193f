package io.github.ratelimit.spring;

import java.util.List;

import tools.jackson.databind.json.JsonMapper;

import org.springframework.core.io.ClassPathResource;

/** The values that editors propose for a property. */
public final class ConfigurationHints {

	private ConfigurationHints() {
	}

	public static List<String> of(String property) throws Exception {
		return JsonMapper.shared()
			.readTree(new ClassPathResource("META-INF/additional-spring-configuration-metadata.json")
				.getContentAsByteArray())
			.get("hints")
			.valueStream()
			.filter((hint) -> hint.get("name").asString().equals(property))
			.flatMap((hint) -> hint.get("values").valueStream())
			.map((value) -> value.get("value").asString())
			.toList();
	}

}
