package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.ratelimit.spring.RateLimitedExpressionException;
import io.github.ratelimit.spring.decide.LoggedOnce;
import io.github.ratelimit.spring.expression.ReadOnlyExpression;
import io.github.ratelimit.spring.expression.ReadOnlyExpression.Variables;
import org.jspecify.annotations.Nullable;

import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;
import org.springframework.expression.spel.SpelEvaluationException;

/**
 * An expression over the arguments of a method, parsed once. If it fails, the call is
 * refused, and this is logged once.
 */
final class MethodExpression {

	private static final BigDecimal LARGEST = BigDecimal.valueOf(Long.MAX_VALUE);

	private final ReadOnlyExpression expression;

	/** Indexes of the parameters in the expression. */
	private final Map<String, Integer> indexes;

	private final String attribute;

	private final String place;

	private final LoggedOnce warnings = new LoggedOnce(MethodExpression.class);

	private MethodExpression(ReadOnlyExpression expression, Map<String, Integer> indexes, String attribute,
			String place) {
		this.expression = expression;
		this.indexes = new HashMap<>(indexes);
		this.indexes.keySet().retainAll(expression.variables());
		this.attribute = attribute;
		this.place = place;
	}

	/**
	 * Parses an expression over the parameters of a method, which a class has.
	 * @param attribute of the annotation
	 * @param place names the annotation in messages
	 * @throws IllegalArgumentException if no call can evaluate it
	 */
	static MethodExpression parse(String attribute, String text, Method method, Class<?> type, String place) {
		List<ResolvableType> types = parameters(method, type);
		@Nullable String[] names = new DefaultParameterNameDiscoverer().getParameterNames(method);
		Map<String, Integer> indexes = new LinkedHashMap<>();
		for (int i = 0; i < types.size(); i++) {
			indexes.put("a" + i, i);
			indexes.put("p" + i, i);
			if (names != null && i < names.length && names[i] != null) {
				indexes.put(names[i], i);
			}
		}
		String description = indexes.isEmpty() ? "parameters, but %s has none".formatted(method.toGenericString())
				: "the parameters %s of %s%s".formatted(
						indexes.keySet().stream().map("#"::concat).collect(Collectors.joining(", ")),
						method.toGenericString(),
						(names != null) ? "" : " (compile with -parameters to use their names)");
		Map<String, Class<?>> known = indexes.entrySet()
			.stream()
			.collect(Collectors.toMap(Map.Entry::getKey, (each) -> types.get(each.getValue()).toClass()));
		return new MethodExpression(ReadOnlyExpression.parse(attribute, text, new Variables(known, description, false)),
				indexes, attribute, place);
	}

	/**
	 * Returns the types of the parameters that the source of a method declares, without
	 * the continuation of a suspend function.
	 */
	static List<ResolvableType> parameters(Method method, Class<?> type) {
		int count = method.getParameterCount() - (KotlinDetector.isSuspendingFunction(method) ? 1 : 0);
		return IntStream.range(0, count)
			.mapToObj((index) -> ResolvableType.forMethodParameter(method, index, type))
			.toList();
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
			exact = new BigDecimal(number.toString());
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
		return (exact.compareTo(BigDecimal.ONE) <= 0) ? exact.signum()
				: exact.setScale(0, RoundingMode.CEILING).longValueExact();
	}

	/** Returns the value as a string; empty if it is {@code null}. */
	String text(@Nullable Object[] arguments) {
		Object value = evaluate(arguments);
		if (value == null) {
			return "";
		}
		String text = value.toString();
		// The default toString differs for each object. It is recognized by its text,
		// because reflection finds nothing in a native image.
		if (text.equals(value.getClass().getName() + '@' + Integer.toHexString(value.hashCode()))) {
			// A fault of the application: what a client sent always has a text.
			throw new IllegalStateException(invalid("an identifier must have a text, but %s does not override toString."
				.formatted(value.getClass().getTypeName())).getMessage());
		}
		return text;
	}

	@Nullable Object evaluate(@Nullable Object[] arguments) {
		Map<String, @Nullable Object> values = new HashMap<>();
		this.indexes.forEach((name, index) -> values.put(name, arguments[index]));
		try {
			return this.expression.evaluate(values, Object.class);
		}
		catch (RuntimeException ex) {
			// Methods of the arguments may throw anything; the call cannot be decided.
			// Messages are not logged: they may contain what a client sent.
			String type = ex.getClass().getName();
			warn((ex instanceof SpelEvaluationException spel) ? type + ' ' + spel.getMessageCode() : type);
			throw new RateLimitedExpressionException(toString(), this.place, "it failed.", ex);
		}
	}

	private RateLimitedExpressionException invalid(String reason) {
		warn(reason);
		return new RateLimitedExpressionException(toString(), this.place, reason, null);
	}

	private void warn(String reason) {
		this.warnings.warn(this.attribute,
				"Calls of {} are refused when its {} ({}) fails, as it just did: {} Later failures are not logged",
				this.place, this.attribute, this, reason.endsWith(".") ? reason : reason + ".");
	}

	/** Returns the expression as written. */
	@Override
	public String toString() {
		return this.expression.toString();
	}

}
