package io.github.ratelimit.spring.policy;

import java.util.Locale;

/**
 * The names of policies that are derived from configured ones, which therefore cannot be
 * configured.
 *
 * @param suffix what is appended to the name of the configured policy
 * @param meaning what such a policy is, for messages
 */
record ReservedName(String suffix, String meaning) {

	private static final int MAX_NAME_LENGTH = 128;

	/** Digits of the hash in names that are too long for the suffix. */
	private static final int DIGITS = 8;

	/** Returns the name that is derived from the name of a policy. */
	String of(String policy) {
		if (policy.length() + this.suffix.length() <= MAX_NAME_LENGTH) {
			return policy + this.suffix;
		}
		return policy.substring(0, MAX_NAME_LENGTH - this.suffix.length() - DIGITS)
				+ String.format(Locale.ROOT, "%08x", policy.hashCode()) + this.suffix;
	}

	/**
	 * Rejects a reserved name.
	 * @param name the name of a configured policy
	 * @throws IllegalArgumentException if the name is reserved
	 */
	void requireOther(String name) {
		if (name.endsWith(this.suffix)) {
			throw new IllegalArgumentException("Invalid policy name (%s): must not end with '%s', which names %s."
				.formatted(name, this.suffix, this.meaning));
		}
	}

}
