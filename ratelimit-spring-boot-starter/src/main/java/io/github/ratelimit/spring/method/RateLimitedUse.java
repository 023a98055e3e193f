package io.github.ratelimit.spring.method;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.HashMap;
import java.util.Map;

import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.PolicyUse;
import org.jspecify.annotations.Nullable;

/**
 * What one {@code @RateLimited} says of the calls of a method.
 *
 * @param policy the policy to enforce
 * @param cost what a call uses of each quota, unless there is an expression for it
 * @param costExpression yields the cost
 * @param values yield the values of identifiers, by their text
 */
record RateLimitedUse(IdentifiedPolicy policy, long cost, @Nullable MethodExpression costExpression,
		Map<String, MethodExpression> values) {

	private static final BigDecimal LARGEST = BigDecimal.valueOf(Long.MAX_VALUE);

	/** Returns what a call with these arguments uses. */
	PolicyUse by(@Nullable Object[] arguments) {
		long cost = (this.costExpression != null) ? cost(this.costExpression, arguments) : this.cost;
		Map<String, String> texts = new HashMap<>();
		this.values.forEach((part, expression) -> {
			String text = text(expression, arguments);
			if (!text.isBlank()) {
				texts.put(part, text);
			}
		});
		return new PolicyUse(this.policy, cost, texts);
	}

	private static long cost(MethodExpression expression, @Nullable Object[] arguments) {
		Object value = expression.evaluate(arguments);
		if (!(value instanceof Number number)) {
			throw expression.invalid("a cost must be a number, not %s."
				.formatted((value != null) ? "a " + value.getClass().getName() : "null"));
		}
		BigDecimal exact;
		try {
			exact = (number instanceof BigDecimal decimal) ? decimal : new BigDecimal(number.toString());
		}
		catch (NumberFormatException ex) {
			throw expression.invalid("a cost must be a finite number, not %s.".formatted(number));
		}
		if (exact.signum() < 0) {
			throw expression.invalid("a cost must be 0 or more, not %s.".formatted(number));
		}
		// Compared before it is rounded: to write 1E+999999999 out takes a gigabyte.
		if (exact.compareTo(LARGEST) >= 0) {
			return Long.MAX_VALUE;
		}
		if (exact.compareTo(BigDecimal.ONE) <= 0) {
			return exact.signum();
		}
		return exact.setScale(0, RoundingMode.CEILING).longValueExact();
	}

	private static String text(MethodExpression expression, @Nullable Object[] arguments) {
		Object value = expression.evaluate(arguments);
		if (value == null) {
			return "";
		}
		String text = value.toString();
		if (hasNoText(value, text)) {
			throw expression.invalid("an identifier must have a text, but a %s has none of its own."
				.formatted(value.getClass().getTypeName()));
		}
		return text;
	}

	/**
	 * An object that says only where it is in memory would be another on every call. Not
	 * by reflection, which finds nothing in a native image.
	 */
	private static boolean hasNoText(Object value, String text) {
		return text.equals(value.getClass().getName() + '@' + Integer.toHexString(value.hashCode()));
	}

}
