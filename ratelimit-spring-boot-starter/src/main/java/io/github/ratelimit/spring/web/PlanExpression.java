package io.github.ratelimit.spring.web;

import java.security.Principal;
import java.util.Set;

import io.github.ratelimit.spring.PlanResolver;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.Assign;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.OpDec;
import org.springframework.expression.spel.ast.OpInc;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.SimpleEvaluationContext;
import org.springframework.security.core.Authentication;
import org.springframework.util.ClassUtils;

/**
 * Finds the plan of a user by an expression. What the expression could never do is
 * refused when it is read, rather than with the first request.
 */
final class PlanExpression implements PlanResolver {

	private static final boolean SECURITY = ClassUtils.isPresent("org.springframework.security.core.Authentication",
			PlanExpression.class.getClassLoader());

	private static final Set<String> VARIABLES = Set.of("#principal", "#request", "#this", "#root");

	private static final Set<Class<?>> REFUSED = Set.of(TypeReference.class, ConstructorReference.class,
			BeanReference.class, FunctionReference.class, Assign.class, OpInc.class, OpDec.class);

	private final SpelExpression expression;

	PlanExpression(String text) {
		ExpressionResolver.requireText(text);
		try {
			this.expression = new SpelExpressionParser().parseRaw(text);
		}
		catch (ParseException | IllegalArgumentException | IllegalStateException ex) {
			throw new IllegalArgumentException("Invalid expression (%s): %s.".formatted(text, ex.getMessage()), ex);
		}
		requireEvaluable(text, this.expression.getAST());
	}

	private static void requireEvaluable(String text, SpelNode node) {
		if ((node instanceof VariableReference && !VARIABLES.contains(node.toStringAST()))
				|| REFUSED.contains(node.getClass())) {
			throw new IllegalArgumentException(
					"Invalid expression (%s): %s is not allowed; there are the variables #principal and #request, whose properties and methods may be used."
						.formatted(text, node.toStringAST()));
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			requireEvaluable(text, node.getChild(i));
		}
	}

	@Override
	public @Nullable String resolve(Principal user, HttpServletRequest request) {
		SimpleEvaluationContext context = SimpleEvaluationContext.forReadOnlyDataBinding()
			.withInstanceMethods()
			.build();
		context.setVariable("principal", principal(user));
		context.setVariable("request", request);
		return this.expression.getValue(context, String.class);
	}

	private static @Nullable Object principal(Principal user) {
		return (SECURITY && user instanceof Authentication authentication) ? authentication.getPrincipal() : user;
	}

}
