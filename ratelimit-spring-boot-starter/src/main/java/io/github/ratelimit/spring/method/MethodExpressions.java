package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.github.ratelimit.spring.expression.ReadOnlyExpression;
import io.github.ratelimit.spring.expression.ReadOnlyExpression.Variables;
import org.jspecify.annotations.Nullable;

import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ResolvableType;

/**
 * Parses the expressions in the annotations of a method, whose variables are its
 * parameters.
 */
final class MethodExpressions {

	private final Map<String, Integer> indexes = new LinkedHashMap<>();

	private final Variables variables;

	private final String place;

	/**
	 * Creates the expressions of a method.
	 * @param method the method whose parameters the expressions use
	 * @param type the class of the object
	 * @param place names the annotation in messages
	 */
	MethodExpressions(Method method, Class<?> type, String place) {
		this.place = place;
		List<ResolvableType> types = DeclaredParameters.types(method, type);
		@Nullable String[] names = new DefaultParameterNameDiscoverer().getParameterNames(method);
		for (int i = 0; i < types.size(); i++) {
			this.indexes.put("a" + i, i);
			this.indexes.put("p" + i, i);
			if (names != null && i < names.length && names[i] != null) {
				this.indexes.put(names[i], i);
			}
		}
		this.variables = new Variables(
				this.indexes.entrySet()
					.stream()
					.collect(Collectors.toMap(Map.Entry::getKey, (each) -> types.get(each.getValue()))),
				description(method, names != null), false);
	}

	private String description(Method method, boolean namesAreKnown) {
		if (this.indexes.isEmpty()) {
			return "parameters, but %s has none".formatted(method.toGenericString());
		}
		return "the parameters %s of %s%s".formatted(
				this.indexes.keySet().stream().map("#"::concat).collect(Collectors.joining(", ")),
				method.toGenericString(), namesAreKnown ? "" : " (compile with -parameters to use their names)");
	}

	/**
	 * Parses an expression.
	 * @param attribute the attribute of the annotation
	 * @param text the expression
	 * @throws IllegalArgumentException if no call can evaluate it
	 */
	MethodExpression parse(String attribute, String text) {
		return new MethodExpression(ReadOnlyExpression.parse(attribute, text, this.variables), this.indexes, attribute,
				this.place);
	}

}
