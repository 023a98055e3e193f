package io.github.ratelimit.spring.web;

import java.security.Principal;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

import io.github.ratelimit.spring.IdentifierResolver;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.Assign;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpDec;
import org.springframework.expression.spel.ast.OpInc;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.SimpleEvaluationContext;
import org.springframework.security.core.Authentication;
import org.springframework.util.ClassUtils;

/**
 * Identifies a request by an expression, which is read once.
 */
final class ExpressionResolver implements IdentifierResolver {

	private static final String REQUEST = "request";

	private static final String PRINCIPAL = "principal";

	/** {@code #this} is the element of a selection. */
	private static final Set<String> VARIABLES = Set.of("#request", "#principal", "#this");

	/** What of a request needs the user. */
	private static final Set<String> OF_USER = Set.of("userPrincipal", "getUserPrincipal", "remoteUser",
			"getRemoteUser", "authType", "getAuthType", "isUserInRole");

	private static final List<Class<? extends SpelNode>> FORBIDDEN = List.of(TypeReference.class, BeanReference.class,
			ConstructorReference.class, FunctionReference.class, Assign.class, OpInc.class, OpDec.class);

	/** Nobody has logged in, or a part of what was asked for is not there. */
	private static final Set<SpelMessage> MISSING = Set.of(SpelMessage.PROPERTY_OR_FIELD_NOT_READABLE_ON_NULL,
			SpelMessage.METHOD_CALL_ON_NULL_OBJECT_NOT_ALLOWED, SpelMessage.CANNOT_INDEX_INTO_NULL_VALUE);

	private static final boolean SECURITY = ClassUtils.isPresent("org.springframework.security.core.Authentication",
			ExpressionResolver.class.getClassLoader());

	private final SpelExpression expression;

	private final boolean needsUser;

	ExpressionResolver(String text) {
		requireText(text);
		try {
			this.expression = new SpelExpressionParser().parseRaw(text);
		}
		catch (ParseException | IllegalStateException | IllegalArgumentException ex) {
			throw new IllegalArgumentException(
					"Invalid expression (%s): cannot be read: %s".formatted(text, ex.getMessage()), ex);
		}
		SpelNode root = this.expression.getAST();
		if (find(root, ExpressionResolver::isForbidden)) {
			throw new IllegalArgumentException(
					"Invalid expression (%s): must use no types, beans, functions or variables but #request and #principal, and change nothing."
						.formatted(text));
		}
		if (!find(root, (node) -> node instanceof VariableReference)) {
			throw new IllegalArgumentException(
					"Invalid expression (%s): must use #request or #principal, or it would be the same for everybody."
						.formatted(text));
		}
		this.needsUser = find(root, ExpressionResolver::isOfUser);
	}

	/** What YAML takes for a comment arrives as an empty text. */
	static void requireText(String text) {
		if (text.isBlank()) {
			throw new IllegalArgumentException(
					"Invalid expression (%s): is empty; in YAML, # begins a comment unless the expression is in quotes."
						.formatted(text));
		}
	}

	private static boolean find(SpelNode node, Predicate<SpelNode> wanted) {
		if (wanted.test(node)) {
			return true;
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			if (find(node.getChild(i), wanted)) {
				return true;
			}
		}
		return false;
	}

	private static boolean isForbidden(SpelNode node) {
		return FORBIDDEN.stream().anyMatch((type) -> type.isInstance(node))
				|| (node instanceof VariableReference && !VARIABLES.contains(node.toStringAST()));
	}

	private static boolean isOfUser(SpelNode node) {
		return (node instanceof VariableReference && node.toStringAST().equals('#' + PRINCIPAL))
				|| (node instanceof PropertyOrFieldReference property && OF_USER.contains(property.getName()))
				|| (node instanceof MethodReference method && OF_USER.contains(method.getName()));
	}

	@Override
	public boolean needsUser() {
		return this.needsUser;
	}

	@Override
	public @Nullable String resolve(HttpServletRequest request) {
		EvaluationContext context = SimpleEvaluationContext.forReadOnlyDataBinding().withInstanceMethods().build();
		context.setVariable(REQUEST, request);
		context.setVariable(PRINCIPAL, principal(request.getUserPrincipal()));
		Object value;
		try {
			value = this.expression.getValue(context);
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

	private static @Nullable Object principal(@Nullable Principal principal) {
		return (SECURITY && principal != null) ? Unwrapping.principal(principal) : principal;
	}

	/** Apart, because Spring Security may be missing. */
	private static final class Unwrapping {

		private Unwrapping() {
		}

		static @Nullable Object principal(Principal principal) {
			return (principal instanceof Authentication authentication) ? authentication.getPrincipal() : principal;
		}

	}

}
