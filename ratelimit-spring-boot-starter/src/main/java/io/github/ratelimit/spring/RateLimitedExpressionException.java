package io.github.ratelimit.spring;

import java.io.Serial;

import org.jspecify.annotations.Nullable;

/**
 * An expression of a {@code @RateLimited} annotation failed for the arguments of a call,
 * or yielded no possible value. The method was not called, and nothing was counted.
 *
 * @since 0.1
 */
public class RateLimitedExpressionException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String place;

	/**
	 * Creates an exception.
	 * @param expression the expression as it is written
	 * @param place the method with the annotation
	 * @param reason what is wrong with the value
	 * @param cause what went wrong; {@code null} if nothing did
	 */
	public RateLimitedExpressionException(String expression, String place, String reason, @Nullable Throwable cause) {
		super("Invalid value of '%s' in @RateLimited on %s: %s".formatted(expression, place, reason), cause);
		this.place = place;
	}

	/**
	 * Returns the method with the annotation.
	 * @return a name such as {@code public void com.example.SearchController.search()}
	 */
	public String getPlace() {
		return this.place;
	}

}
