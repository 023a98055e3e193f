package io.github.ratelimit.spring.policy;

import java.io.Serial;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * Thrown for an invalid property whose value may contain a password. The message shows
 * only the harmless part of the value.
 */
public class HiddenValueException extends InvalidConfigurationPropertyValueException {

	@Serial
	private static final long serialVersionUID = 1L;

	public HiddenValueException(String property, String shown, String rule) {
		super(property, shown, rule);
	}

	/** Returns a value, or asterisks if it may be a URL with a password. */
	static Object withoutPassword(Object value) {
		return value.toString().contains("@") ? "***" : value;
	}

}
