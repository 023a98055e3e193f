package io.github.ratelimit.spring.autoconfigure;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.env.Environment;

/**
 * What the names of all Redis keys start with: the name of the application, so that two
 * that have a policy of the same name do not share its counts unless they say so.
 */
final class KeyPrefix {

	static final String PROPERTY = "ratelimit.key-prefix";

	private static final Logger logger = LoggerFactory.getLogger(KeyPrefix.class);

	private static final String NAME = "spring.application.name";

	private static final String DEFAULT = "ratelimit";

	private KeyPrefix() {
	}

	static String of(RateLimitProperties properties, Environment environment) {
		String own = properties.keyPrefix();
		if (own != null) {
			return own;
		}
		String name = environment.getProperty(NAME, "").replaceAll("[^A-Za-z0-9._:-]+", "-");
		if (name.isEmpty()) {
			logger
				.info("Counts are shared with all applications on this Redis that have no name either, and policies of"
						+ " the same name: set {} or {}", NAME, PROPERTY);
			return DEFAULT;
		}
		logger.info("Counts are kept under the name of the application, '{}'. Applications share the counts of policies"
				+ " of the same name if they have the same {}", name, PROPERTY);
		return name;
	}

}
