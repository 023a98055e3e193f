package io.github.ratelimit.spring.policy;

import java.io.Serial;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * A property is invalid whose value may hold a password. Only what may be shown of it is
 * told.
 */
public class HiddenValueException extends InvalidConfigurationPropertyValueException {

	@Serial
	private static final long serialVersionUID = 1L;

	public HiddenValueException(String property, String shown, String rule) {
		super(property, shown, rule);
	}

}
