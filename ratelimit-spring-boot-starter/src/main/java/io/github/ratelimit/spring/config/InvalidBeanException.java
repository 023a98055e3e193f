package io.github.ratelimit.spring.config;

import java.io.Serial;

import org.jspecify.annotations.Nullable;

/** Thrown at startup if a bean cannot be used. */
public final class InvalidBeanException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String action;

	/** Creates an exception for a bean whose name cannot be used in configuration. */
	public InvalidBeanException(String bean, Class<?> type, IllegalArgumentException reason) {
		this(bean, type, String.valueOf(reason.getMessage()), "Give the bean '%s' another name.".formatted(bean),
				reason);
	}

	InvalidBeanException(String bean, Class<?> type, String reason, String action, @Nullable Throwable cause) {
		super("Invalid bean '%s' of type %s: %s".formatted(bean, type.getSimpleName(), reason), cause);
		this.action = action;
	}

	public String getAction() {
		return this.action;
	}

}
