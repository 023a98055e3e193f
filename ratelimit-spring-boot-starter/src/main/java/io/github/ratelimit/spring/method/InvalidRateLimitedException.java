package io.github.ratelimit.spring.method;

import java.io.Serial;

/**
 * Thrown at startup if a {@code @RateLimited} annotation cannot be enforced.
 *
 * @since 0.1
 */
public class InvalidRateLimitedException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String place;

	/**
	 * Creates an exception.
	 * @param place the class or method with the annotation
	 * @param reason what is wrong with the annotation
	 */
	public InvalidRateLimitedException(String place, IllegalArgumentException reason) {
		super("Invalid @RateLimited on %s: %s".formatted(place, reason.getMessage()), reason);
		this.place = place;
	}

	static InvalidRateLimitedException of(String place, String reason) {
		return new InvalidRateLimitedException(place, new IllegalArgumentException(reason));
	}

	/**
	 * Returns the class or method with the annotation.
	 * @return a name such as {@code com.example.SearchController.search}
	 */
	public String getPlace() {
		return this.place;
	}

}
