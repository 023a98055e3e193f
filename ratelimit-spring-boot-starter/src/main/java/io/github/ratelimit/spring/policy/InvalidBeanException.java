package io.github.ratelimit.spring.policy;

import java.io.Serial;

/**
 * A bean cannot be used as the application means it; the application does not start.
 */
public final class InvalidBeanException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String action;

	/**
	 * Creates an exception for a bean that is named in configuration, and has a name that
	 * cannot be used there.
	 * @param bean the name of the bean
	 * @param type the type that it is asked for by
	 * @param reason what is wrong with the name
	 */
	public InvalidBeanException(String bean, Class<?> type, IllegalArgumentException reason) {
		this(bean, type, String.valueOf(reason.getMessage()), "Give the bean '%s' another name.".formatted(bean));
		initCause(reason);
	}

	InvalidBeanException(String bean, Class<?> type, String reason, String action) {
		super("Invalid bean '%s' of type %s: %s".formatted(bean, type.getSimpleName(), reason));
		this.action = action;
	}

	String getAction() {
		return this.action;
	}

}
