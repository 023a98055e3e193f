package io.github.ratelimit.spring;

import java.io.Serial;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when an expression of a {@code @RateLimited} annotation fails for the arguments
 * of a call, or returns an invalid value, such as a negative cost. The method is not
 * called, and nothing is counted. A web application answers it with 400 unless it handles
 * the exception itself, because the arguments are usually what a client sent.
 *
 * @since 0.1
 */
public class RateLimitedExpressionException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String place;

	/**
	 * Creates an exception.
	 * @param expression the expression as written
	 * @param place the method with the annotation
	 * @param reason what is wrong with the value
	 * @param cause the exception of the expression; {@code null} if there is none
	 */
	public RateLimitedExpressionException(String expression, String place, String reason, @Nullable Throwable cause) {
		super("Invalid value of '%s' in @RateLimited on %s: %s".formatted(expression, place, reason), cause);
		this.place = place;
	}

	/**
	 * Returns the method with the annotation, such as
	 * {@code public void com.example.SearchController.search()}.
	 */
	public String getPlace() {
		return this.place;
	}

}
