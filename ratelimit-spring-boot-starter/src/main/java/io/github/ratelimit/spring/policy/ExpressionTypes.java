package io.github.ratelimit.spring.policy;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpEQ;
import org.springframework.expression.spel.ast.OpNE;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Determines the types in an expression that are known before it is evaluated, and
 * refuses properties and methods that they do not have. An object may be of a subclass
 * that has more, so only variables, final classes and the servlet API are checked.
 */
final class ExpressionTypes {

	private final String text;

	private final Map<String, Class<?>> variables;

	ExpressionTypes(String text, Map<String, Class<?>> variables) {
		this.text = text;
		this.variables = variables;
	}

	/** Returns the type of a part of the expression; null if it is not known. */
	@Nullable Class<?> find(SpelNode node) {
		if (node instanceof CompoundExpression) {
			Class<?> type = find(node.getChild(0));
			for (int i = 1; i < node.getChildCount(); i++) {
				SpelNode member = node.getChild(i);
				type = (type != null) ? ofMember(type, member) : null;
				findInside(member);
			}
			return (type != null) ? ClassUtils.resolvePrimitiveIfNecessary(type) : null;
		}
		findInside(node);
		if (node instanceof VariableReference) {
			return this.variables.get(node.toStringAST().substring(1));
		}
		if (node instanceof StringLiteral) {
			return String.class;
		}
		return (node instanceof OpEQ || node instanceof OpNE) ? Boolean.class : null;
	}

	private void findInside(SpelNode node) {
		for (int i = 0; i < node.getChildCount(); i++) {
			find(node.getChild(i));
		}
	}

	private @Nullable Class<?> ofMember(Class<?> type, SpelNode member) {
		if (member instanceof Indexer) {
			return type.componentType();
		}
		Class<?> owner = ClassUtils.resolvePrimitiveIfNecessary(type);
		if (!isKnown(owner)) {
			return null;
		}
		if (member instanceof MethodReference reference) {
			int arguments = reference.getChildCount();
			return ofMethods(owner, "method %s with %d arguments".formatted(reference.getName(), arguments),
					(method) -> method.getName().equals(reference.getName())
							&& (method.getParameterCount() == arguments || method.isVarArgs()));
		}
		if (member instanceof PropertyOrFieldReference reference) {
			Set<String> accessors = accessors(reference.getName());
			return ofMethods(owner, "property " + reference.getName(),
					(method) -> method.getParameterCount() == 0 && accessors.contains(method.getName()));
		}
		return null;
	}

	private boolean isKnown(Class<?> type) {
		return !type.isArray() && type != Object.class && (Modifier.isFinal(type.getModifiers())
				|| this.variables.containsValue(type) || type.getName().startsWith("jakarta.servlet."));
	}

	private static Set<String> accessors(String property) {
		return Set.of(property, "get" + StringUtils.capitalize(property), "is" + StringUtils.capitalize(property));
	}

	private @Nullable Class<?> ofMethods(Class<?> owner, String wanted, Predicate<Method> isWanted) {
		Set<Class<?>> types = Stream.of(owner.getMethods(), Object.class.getMethods())
			.flatMap(Stream::of)
			.filter((method) -> !method.getName().equals("getClass"))
			.filter(isWanted)
			.map(Method::getReturnType)
			.collect(Collectors.toSet());
		if (types.isEmpty()) {
			throw new IllegalArgumentException(
					"Invalid expression (%s): %s has no %s.".formatted(this.text, owner.getName(), wanted));
		}
		return (types.size() == 1) ? List.copyOf(types).get(0) : null;
	}

}
