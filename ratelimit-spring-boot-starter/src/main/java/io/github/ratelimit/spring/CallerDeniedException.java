package io.github.ratelimit.spring;

import java.io.Serial;

/**
 * Thrown when a call of a method with {@code @RateLimited} is denied because of its
 * caller, regardless of its limits: the caller is on the deny list, or lacks an
 * identifier that the policy requires. A web application answers it with 403 unless it
 * handles the exception itself.
 *
 * @since 0.1
 */
public class CallerDeniedException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	/**
	 * Creates an exception with a message that must not contain anything that the caller
	 * has sent.
	 */
	public CallerDeniedException(String message) {
		super(message);
	}

	/**
	 * Creates an exception for a caller that lacks an identifier.
	 * @param identifier the identifier as in configuration
	 * @param policy the name of the policy that requires it
	 * @return a new exception
	 */
	public static CallerDeniedException lacks(String identifier, String policy) {
		return new CallerDeniedException(
				"The caller lacks the identifier %s, which the policy %s requires".formatted(identifier, policy));
	}

}
