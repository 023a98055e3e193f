package io.github.ratelimit.spring.redis;

import java.io.Serial;

import io.github.ratelimit.spring.policy.HiddenValueException;

/**
 * Thrown for an invalid URL of Redis. The message hides what may be a password.
 */
class InvalidRedisUrlException extends HiddenValueException {

	@Serial
	private static final long serialVersionUID = 1L;

	InvalidRedisUrlException(String property, String url) {
		super(property, shown(url),
				"Must be a URL such as redis://user:password@example.com:6379/0, or rediss:// for encryption.");
	}

	/** Returns a URL without what may be a password. */
	static String shown(String url) {
		return url.replaceFirst("^([a-z]*:/*)?.*@", "$1***@");
	}

}
