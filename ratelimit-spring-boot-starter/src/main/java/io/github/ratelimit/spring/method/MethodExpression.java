package io.github.ratelimit.spring.method;

import java.util.Map;

import io.github.ratelimit.spring.RateLimitedExpressionException;
import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.spel.support.SimpleEvaluationContext;

/**
 * An expression over the arguments of a method, parsed once.
 * <p>
 * It reads properties and calls methods of the arguments, and reaches nothing else.
 */
final class MethodExpression {

	private final Expression expression;

	/** Indexes of the parameters that the expression names. */
	private final Map<String, Integer> variables;

	private final String place;

	MethodExpression(Expression expression, Map<String, Integer> variables, String place) {
		this.expression = expression;
		this.variables = variables;
		this.place = place;
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
			throw new RateLimitedExpressionException(toString(), this.place, "it failed.", ex);
		}
	}

	RateLimitedExpressionException invalid(String reason) {
		return new RateLimitedExpressionException(toString(), this.place, reason, null);
	}

	/** Returns the expression as it is written. */
	@Override
	public String toString() {
		return this.expression.getExpressionString();
	}

}
