package io.github.ratelimit.spring.method;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.ratelimit.spring.RateLimitedExpressionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.support.SimpleEvaluationContext;

/**
 * An expression over the arguments of a method, parsed once.
 * <p>
 * It reads properties and calls methods of the arguments, and reaches nothing else. Where
 * it fails, the call is refused, and the log says so once.
 */
final class MethodExpression {

	private static final Logger logger = LoggerFactory.getLogger(MethodExpression.class);

	private static final BigDecimal LARGEST = BigDecimal.valueOf(Long.MAX_VALUE);

	private final Expression expression;

	/** Indexes of the parameters that the expression names. */
	private final Map<String, Integer> variables;

	private final String attribute;

	private final String place;

	private final AtomicBoolean failed = new AtomicBoolean();

	MethodExpression(Expression expression, Map<String, Integer> variables, String attribute, String place) {
		this.expression = expression;
		this.variables = variables;
		this.attribute = attribute;
		this.place = place;
	}

	/** Returns the cost that the expression yields; fractions are rounded up. */
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
		// Compared before it is rounded: to write 1E+999999999 out takes a gigabyte.
		if (exact.compareTo(LARGEST) >= 0) {
			return Long.MAX_VALUE;
		}
		if (exact.compareTo(BigDecimal.ONE) <= 0) {
			return exact.signum();
		}
		return exact.setScale(0, RoundingMode.CEILING).longValueExact();
	}

	/** Returns the text that the expression yields; empty if it yields {@code null}. */
	String text(@Nullable Object[] arguments) {
		Object value = evaluate(arguments);
		if (value == null) {
			return "";
		}
		String text = value.toString();
		if (hasNoText(value, text)) {
			throw invalid("an identifier must have a text, but a %s has none of its own."
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

	@Nullable Object evaluate(@Nullable Object[] arguments) {
		EvaluationContext context = SimpleEvaluationContext.forReadOnlyDataBinding().withInstanceMethods().build();
		this.variables.forEach((name, index) -> context.setVariable(name, arguments[index]));
		try {
			return this.expression.getValue(context);
		}
		catch (RuntimeException ex) {
			// What the arguments' own methods throw is no failure of this expression
			// alone, but the call cannot be decided either way.
			String type = ex.getClass().getName();
			warn((ex instanceof SpelEvaluationException spel) ? type + ' ' + spel.getMessageCode() : type);
			throw new RateLimitedExpressionException(toString(), this.place, "it failed.", ex);
		}
	}

	private RateLimitedExpressionException invalid(String reason) {
		warn(reason);
		return new RateLimitedExpressionException(toString(), this.place, reason, null);
	}

	/** Without messages of other exceptions, which may quote what a client sent. */
	private void warn(String reason) {
		if (this.failed.compareAndSet(false, true)) {
			logger.warn(
					"Calls of {} are refused when its {} ({}) fails, as it just did: {} Later failures are not logged",
					this.place, this.attribute, this, reason.endsWith(".") ? reason : reason + ".");
		}
	}

	/** Returns the expression as it is written. */
	@Override
	public String toString() {
		return this.expression.getExpressionString();
	}

}
