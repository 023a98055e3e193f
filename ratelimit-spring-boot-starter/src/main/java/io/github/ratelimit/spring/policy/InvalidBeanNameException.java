package io.github.ratelimit.spring.policy;

import java.io.Serial;

/**
 * A bean that is named in configuration has a name that cannot be used there; the
 * application does not start.
 */
public class InvalidBeanNameException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String bean;

	public InvalidBeanNameException(String bean, Class<?> type, IllegalArgumentException reason) {
		super("Invalid bean '%s' of type %s: %s".formatted(bean, type.getSimpleName(), reason.getMessage()), reason);
		this.bean = bean;
	}

	String getBean() {
		return this.bean;
	}

}
