package io.github.ratelimit.spring.policy;

import java.io.Serial;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.origin.Origin;

/**
 * Thrown for an invalid property that cannot be looked up by its name, because several
 * properties have equal names, or whose value must not be shown.
 */
final class KnownOriginException extends InvalidConfigurationPropertyValueException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final transient @Nullable Origin origin;

	/**
	 * Creates the exception.
	 * @param property the name of the property
	 * @param shown the harmless part of the value
	 * @param rule what is wrong and what to do
	 * @param origin where the property is set; {@code null} if unknown
	 */
	KnownOriginException(String property, String shown, String rule, @Nullable Origin origin) {
		super(property, shown, rule);
		this.origin = origin;
	}

	/** Returns where the property is set; {@code null} if unknown. */
	@Nullable Origin origin() {
		return this.origin;
	}

}
