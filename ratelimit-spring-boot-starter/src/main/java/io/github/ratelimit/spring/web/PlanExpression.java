package io.github.ratelimit.spring.web;

import java.security.Principal;

import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.policy.ReadOnlyExpression;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Finds the plan of a user by an expression.
 */
final class PlanExpression implements PlanResolver {

	private final ReadOnlyExpression expression;

	PlanExpression(String text) {
		this.expression = RequestVariables.parse(text);
	}

	@Override
	public @Nullable String resolve(Principal user, HttpServletRequest request) {
		return this.expression.evaluate(RequestVariables.of(request, user), String.class);
	}

}
