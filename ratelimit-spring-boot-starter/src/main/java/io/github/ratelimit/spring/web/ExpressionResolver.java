package io.github.ratelimit.spring.web;

import java.util.Collections;
import java.util.Map;
import java.util.Set;

import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.expression.ReadOnlyExpression;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;

/**
 * Identifies a request by an expression, which is parsed once.
 */
final class ExpressionResolver implements IdentifierResolver {

	/** Errors of expressions that read null: a value is missing, such as the user. */
	private static final Set<SpelMessage> MISSING = Set.of(SpelMessage.PROPERTY_OR_FIELD_NOT_READABLE_ON_NULL,
			SpelMessage.METHOD_CALL_ON_NULL_OBJECT_NOT_ALLOWED, SpelMessage.CANNOT_INDEX_INTO_NULL_VALUE);

	private final ReadOnlyExpression expression;

	ExpressionResolver(String text) {
		this.expression = RequestVariables.parse(text);
		if (this.expression.variables().isEmpty()) {
			throw new IllegalArgumentException(
					"Invalid expression (%s): must use #request or #principal, or it would be the same for everybody."
						.formatted(text));
		}
	}

	@Override
	public boolean needsUser() {
		return RequestVariables.needsUser(this.expression);
	}

	/**
	 * Returns whether it is certain that requests without a user lack the identifier. An
	 * expression that reads the request may have a value for some of them.
	 */
	boolean isMissingWithoutUser() {
		if (!this.expression.variables().equals(Set.of(RequestVariables.PRINCIPAL))) {
			return false;
		}
		try {
			String value = evaluate(Collections.singletonMap(RequestVariables.PRINCIPAL, null));
			return value == null || value.isBlank();
		}
		catch (RuntimeException ex) {
			// It would count as missing.
			return true;
		}
	}

	@Override
	public @Nullable String resolve(HttpServletRequest request) {
		return evaluate(RequestVariables.of(request, request.getUserPrincipal()));
	}

	private @Nullable String evaluate(Map<String, ? extends @Nullable Object> variables) {
		Object value;
		try {
			value = this.expression.evaluate(variables);
		}
		catch (SpelEvaluationException ex) {
			if (MISSING.contains(ex.getMessageCode())) {
				return null;
			}
			throw ex;
		}
		// The text of other objects may contain their hash code, which always differs.
		if (value != null && !BeanUtils.isSimpleValueType(value.getClass())) {
			throw new IllegalStateException(
					"The value must be text or a number, but is a " + value.getClass().getName());
		}
		return (value != null) ? value.toString() : null;
	}

}
