package io.github.ratelimit.spring.policy;

import java.io.Serial;

import org.jspecify.annotations.Nullable;

/**
 * Thrown at startup if a bean cannot be used.
 */
public final class InvalidBeanException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String action;

	/**
	 * Creates an exception for a bean whose name cannot be used in configuration.
	 * @param bean the name of the bean
	 * @param type the type of the bean
	 * @param reason what is wrong with the name
	 */
	public InvalidBeanException(String bean, Class<?> type, IllegalArgumentException reason) {
		this(bean, type, String.valueOf(reason.getMessage()), "Give the bean '%s' another name.".formatted(bean),
				reason);
	}

	InvalidBeanException(String bean, Class<?> type, String reason, String action, @Nullable Throwable cause) {
		super("Invalid bean '%s' of type %s: %s".formatted(bean, type.getSimpleName(), reason), cause);
		this.action = action;
	}

	String getAction() {
		return this.action;
	}

}
