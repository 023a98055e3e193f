package io.github.ratelimit.spring.redis;

import java.io.Serial;

import io.github.ratelimit.spring.policy.HiddenValueException;

/**
 * The URL of Redis is invalid. Nothing of it that may be a password is told.
 */
class InvalidRedisUrlException extends HiddenValueException {

	@Serial
	private static final long serialVersionUID = 1L;

	InvalidRedisUrlException(String property, String url) {
		super(property, shown(url),
				"Must be a URL such as redis://user:password@example.com:6379/0, or rediss:// for encryption.");
	}

	/** What of a URL may be shown: it may hold a password. */
	static String shown(String url) {
		return url.replaceFirst("^([a-z]*:/*)?.*@", "$1***@");
	}

}
