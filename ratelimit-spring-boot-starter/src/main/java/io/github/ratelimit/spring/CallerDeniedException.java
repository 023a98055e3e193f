package io.github.ratelimit.spring;

import java.io.Serial;

/**
 * A call of a method with {@code @RateLimited} was denied because of who makes it,
 * whatever its limits say: the caller is on the list of those that are denied, or lacks
 * an identifier that the policy insists on. In a web application it is answered with 403
 * unless the application handles it itself.
 *
 * @since 0.1
 */
public class CallerDeniedException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	/**
	 * Creates an exception.
	 * @param message why the caller is denied, without anything that it has sent
	 */
	public CallerDeniedException(String message) {
		super(message);
	}

	/**
	 * Creates an exception for a caller that lacks an identifier.
	 * @param identifier the identifier as in configuration
	 * @param policy the name of the policy that insists on it
	 * @return a new exception
	 */
	public static CallerDeniedException lacks(String identifier, String policy) {
		return new CallerDeniedException(
				"The caller lacks the identifier %s, on which the policy %s insists".formatted(identifier, policy));
	}

}
