package io.github.ratelimit.spring.redis;

import java.nio.charset.StandardCharsets;

import io.github.ratelimit.spring.config.RateLimitProperties;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.env.Environment;
import org.springframework.util.DigestUtils;

/**
 * The prefix of all Redis keys. By default it is the name of the application, so that two
 * applications with policies of the same name share counts only if configured to.
 */
final class KeyPrefix {

	static final String PROPERTY = "ratelimit.key-prefix";

	private static final Logger logger = LoggerFactory.getLogger(KeyPrefix.class);

	private static final int MOST_LETTERS = 64;

	private KeyPrefix() {
	}

	static String of(RateLimitProperties properties, Environment environment) {
		if (properties.keyPrefix() != null) {
			return properties.keyPrefix();
		}
		String name = environment.getProperty("spring.application.name", "");
		if (name.isEmpty()) {
			logger.info(
					"The application has no name: it shares the counts of policies of the same name with other"
							+ " applications without a name on this Redis. Set spring.application.name or {}",
					PROPERTY);
			return "ratelimit";
		}
		String prefix = possible(name);
		logger.info(
				"The prefix of Redis keys is the name of the application, '{}'. Applications share the counts of policies"
						+ " of the same name if they have the same {}",
				prefix, PROPERTY);
		return prefix;
	}

	/**
	 * Replaces characters that are not allowed in a prefix; different names remain
	 * different.
	 */
	private static String possible(String name) {
		String possible = name.replaceAll("[^A-Za-z0-9._:-]+", "-");
		if (possible.equals(name) && name.length() <= MOST_LETTERS) {
			return name;
		}
		String hash = DigestUtils.md5DigestAsHex(name.getBytes(StandardCharsets.UTF_8)).substring(0, 8);
		return possible.substring(0, Math.min(possible.length(), MOST_LETTERS - 9)) + '-' + hash;
	}

}
