package io.github.ratelimit.spring.web;

import java.net.URI;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

import io.github.ratelimit.spring.RejectionHandler;
import io.github.ratelimit.spring.policy.ListPropertyNames;
import io.github.ratelimit.spring.policy.PolicyReader;
import io.github.ratelimit.spring.policy.RateLimitProperties;
import io.github.ratelimit.spring.policy.RateLimitProperties.RejectionProperties;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;

/**
 * Reads from properties which headers are written, and how rejected requests are
 * answered. Reports errors with the name and the value of the property.
 */
final class ResponseReader {

	private static final String STYLES = "ratelimit.headers.styles";

	private static final String NO_STYLE = "none";

	private static final String REJECTION = "ratelimit.rejection.";

	private static final Pattern UNIT = Pattern.compile("[a-z][a-z0-9-]{0,31}");

	private static final String REQUESTS = "requests";

	/** Units that draft-ietf-httpapi-ratelimit-headers-11 registers, by other names. */
	private static final Map<String, String> REGISTERED_UNITS = Map.of("bytes", "content-bytes", "request", REQUESTS);

	private ResponseReader() {
	}

	static LimitHeaders readHeaders(RateLimitProperties properties, Environment environment) {
		return new StatusHeaders(readStyles(properties.headers().styles(), environment), InstantSource.system(),
				readUnits(properties));
	}

	/**
	 * Reads styles by their exact names. Spring Boot ignores hyphens in the names of enum
	 * constants, so that {@code x-rate-limit} would be the same as {@code x-ratelimit}.
	 */
	private static Set<HeaderStyle> readStyles(List<String> names, Environment environment) {
		Set<HeaderStyle> styles = EnumSet.noneOf(HeaderStyle.class);
		if (names.equals(List.of(NO_STYLE))) {
			return styles;
		}
		if (names.contains(NO_STYLE)) {
			throw new InvalidConfigurationPropertyValueException(STYLES, names, "Must be none, or a list of styles.");
		}
		ListPropertyNames properties = new ListPropertyNames(environment);
		for (int i = 0; i < names.size(); i++) {
			String name = names.get(i);
			styles.add(PolicyReader.read(properties.element(STYLES, i), name, () -> HeaderStyle.named(name)));
		}
		return styles;
	}

	/** Returns units by the names of policies; policies that count requests have none. */
	private static Map<String, String> readUnits(RateLimitProperties properties) {
		Map<String, String> units = new HashMap<>();
		properties.policies().forEach((policy, policyProperties) -> {
			String name = policyProperties.unit();
			if (name == null) {
				return;
			}
			if (!UNIT.matcher(name).matches()) {
				throw new InvalidConfigurationPropertyValueException(PolicyReader.property(policy, ".unit"), name,
						"Must be a word of at most 32 lower-case letters, digits and hyphens, such as bytes or tokens.");
			}
			String unit = REGISTERED_UNITS.getOrDefault(name, name);
			if (!unit.equals(REQUESTS)) {
				units.put(policy, unit);
			}
		});
		return units;
	}

	static Rejections readRejections(RejectionProperties properties, JsonMapper jsonMapper,
			@Nullable RejectionHandler handler) {
		int status = properties.status();
		if (status < 400 || status > 599) {
			throw new InvalidConfigurationPropertyValueException(REJECTION + "status", status,
					"Must be from 400 to 599: clients take others for success.");
		}
		String type = properties.type();
		return new Rejections(status,
				(type != null) ? PolicyReader.read(REJECTION + "type", type, () -> readType(type)) : null, jsonMapper,
				handler);
	}

	private static URI readType(String type) {
		try {
			if (!type.isBlank()) {
				return URI.create(type);
			}
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException(rule(type), ex);
		}
		throw new IllegalArgumentException(rule(type));
	}

	private static String rule(String type) {
		return "Invalid type (%s): must be a URI, such as https://example.com/problems/quota.".formatted(type);
	}

}
