package io.github.ratelimit.spring.config;

import java.io.Serial;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.origin.Origin;

/**
 * Thrown for an invalid property that must not be looked up by its name: its value may
 * contain a password, or several properties have equal names. The message shows only the
 * harmless part of the value.
 */
public class HiddenValueException extends InvalidConfigurationPropertyValueException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final transient @Nullable Origin origin;

	public HiddenValueException(String property, String shown, String rule) {
		this(property, shown, rule, null);
	}

	HiddenValueException(String property, String shown, String rule, @Nullable Origin origin) {
		super(property, shown, rule);
		this.origin = origin;
	}

	/** Returns where the property is set; {@code null} to look it up. */
	public @Nullable Origin origin() {
		return this.origin;
	}

	/** Returns a value, or asterisks if it may be a URL with a password. */
	public static Object withoutPassword(Object value) {
		return value.toString().contains("@") ? "***" : value;
	}

}
