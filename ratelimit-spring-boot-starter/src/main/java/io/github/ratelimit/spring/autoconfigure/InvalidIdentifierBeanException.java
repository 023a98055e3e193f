package io.github.ratelimit.spring.autoconfigure;

import java.io.Serial;

/**
 * The name of a bean of type {@code IdentifierResolver} cannot be that of an identifier;
 * the application does not start.
 */
class InvalidIdentifierBeanException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String bean;

	InvalidIdentifierBeanException(String bean, IllegalArgumentException reason) {
		super("Invalid bean '%s' of type IdentifierResolver: %s".formatted(bean, reason.getMessage()), reason);
		this.bean = bean;
	}

	String getBean() {
		return this.bean;
	}

}
