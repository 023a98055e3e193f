package io.github.ratelimit.spring.web;

import java.net.URI;

import io.github.ratelimit.spring.RejectionHandler;
import io.github.ratelimit.spring.policy.PolicyReader;
import io.github.ratelimit.spring.policy.RateLimitProperties.RejectionProperties;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * Reads how requests beyond their limits are answered.
 */
final class RejectionReader {

	private static final String PROPERTY = "ratelimit.rejection.";

	private RejectionReader() {
	}

	static Rejections read(RejectionProperties properties, JsonMapper jsonMapper, @Nullable RejectionHandler handler) {
		int status = properties.status();
		if (status < 400 || status > 599) {
			throw new InvalidConfigurationPropertyValueException(PROPERTY + "status", status,
					"Must be from 400 to 599: clients take others for success.");
		}
		String type = properties.type();
		return new Rejections(status,
				(type != null) ? PolicyReader.read(PROPERTY + "type", type, () -> readType(type)) : null, jsonMapper,
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
