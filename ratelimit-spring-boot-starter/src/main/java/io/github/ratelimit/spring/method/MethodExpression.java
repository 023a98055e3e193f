package io.github.ratelimit.spring.method;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.ratelimit.spring.RateLimitedExpressionException;
import io.github.ratelimit.spring.expression.ReadOnlyExpression;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.expression.spel.SpelEvaluationException;

/**
 * An expression over the arguments of a method, parsed once. If it fails, the call is
 * refused, and this is logged once.
 */
final class MethodExpression {

	private static final Logger logger = LoggerFactory.getLogger(MethodExpression.class);

	private static final BigDecimal LARGEST = BigDecimal.valueOf(Long.MAX_VALUE);

	private final ReadOnlyExpression expression;

	/** Indexes of the parameters in the expression. */
	private final Map<String, Integer> indexes;

	private final String attribute;

	private final String place;

	private final AtomicBoolean failed = new AtomicBoolean();

	/**
	 * Creates an expression.
	 * @param indexes the indexes of the parameters, by their names
	 * @param attribute the attribute of the annotation
	 * @param place names the annotation in messages
	 */
	MethodExpression(ReadOnlyExpression expression, Map<String, Integer> indexes, String attribute, String place) {
		this.expression = expression;
		this.indexes = new HashMap<>(indexes);
		this.indexes.keySet().retainAll(expression.variables());
		this.attribute = attribute;
		this.place = place;
	}

	/** Returns the cost; fractions are rounded up. */
	long cost(@Nullable Object[] arguments) {
		Object value = evaluate(arguments);
		if (!(value instanceof Number number)) {
			throw invalid("a cost must be a number, not %s."
				.formatted((value != null) ? "a " + value.getClass().getName() : "null"));
		}
		BigDecimal exact;
		try {
			exact = (number instanceof BigDecimal decimal) ? decimal : new BigDecimal(number.toString());
		}
		catch (NumberFormatException ex) {
			throw invalid("a cost must be a finite number, not %s.".formatted(number));
		}
		if (exact.signum() < 0) {
			throw invalid("a cost must be 0 or more, not %s.".formatted(number));
		}
		// Compared before rounding, because rounding 1E+999999999 needs a gigabyte.
		if (exact.compareTo(LARGEST) >= 0) {
			return Long.MAX_VALUE;
		}
		if (exact.compareTo(BigDecimal.ONE) <= 0) {
			return exact.signum();
		}
		return exact.setScale(0, RoundingMode.CEILING).longValueExact();
	}

	/** Returns the value as a string; empty if it is {@code null}. */
	String text(@Nullable Object[] arguments) {
		Object value = evaluate(arguments);
		if (value == null) {
			return "";
		}
		String text = value.toString();
		if (hasNoText(value, text)) {
			// A fault of the application: what a client sent always has a text.
			throw new IllegalStateException(invalid("an identifier must have a text, but %s does not override toString."
				.formatted(value.getClass().getTypeName())).getMessage());
		}
		return text;
	}

	/**
	 * The default {@code toString} differs for each object. It is recognized by its text,
	 * because reflection finds nothing in a native image.
	 */
	private static boolean hasNoText(Object value, String text) {
		return text.equals(value.getClass().getName() + '@' + Integer.toHexString(value.hashCode()));
	}

	@Nullable Object evaluate(@Nullable Object[] arguments) {
		Map<String, @Nullable Object> values = new HashMap<>();
		this.indexes.forEach((name, index) -> values.put(name, arguments[index]));
		try {
			return this.expression.evaluate(values);
		}
		catch (RuntimeException ex) {
			// Methods of the arguments may throw anything; the call cannot be decided.
			String type = ex.getClass().getName();
			warn((ex instanceof SpelEvaluationException spel) ? type + ' ' + spel.getMessageCode() : type);
			throw new RateLimitedExpressionException(toString(), this.place, "it failed.", ex);
		}
	}

	private RateLimitedExpressionException invalid(String reason) {
		warn(reason);
		return new RateLimitedExpressionException(toString(), this.place, reason, null);
	}

	/** Logs no message of other exceptions, which may contain what a client sent. */
	private void warn(String reason) {
		if (this.failed.compareAndSet(false, true)) {
			logger.warn(
					"Calls of {} are refused when its {} ({}) fails, as it just did: {} Later failures are not logged",
					this.place, this.attribute, this, reason.endsWith(".") ? reason : reason + ".");
		}
	}

	/** Returns the expression as written. */
	@Override
	public String toString() {
		return this.expression.toString();
	}

}
