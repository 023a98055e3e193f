package io.github.ratelimit.spring.web;

import java.util.Set;

import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.policy.ReadOnlyExpression;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;

/**
 * Identifies a request by an expression, which is read once.
 */
final class ExpressionResolver implements IdentifierResolver {

	/** Nobody has logged in, or a part of what was asked for is not there. */
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

	@Override
	public @Nullable String resolve(HttpServletRequest request) {
		Object value;
		try {
			value = this.expression.evaluate(RequestVariables.of(request, request.getUserPrincipal()));
		}
		catch (SpelEvaluationException ex) {
			if (MISSING.contains(ex.getMessageCode())) {
				return null;
			}
			throw ex;
		}
		// Text of other objects may hold their hash code, which no two requests share.
		if (value != null && !BeanUtils.isSimpleValueType(value.getClass())) {
			throw new IllegalStateException("The value is no text or number but a " + value.getClass().getName());
		}
		return (value != null) ? value.toString() : null;
	}

}
