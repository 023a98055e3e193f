package io.github.ratelimit.spring.method;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.core.ResolvableType;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.StringUtils;

/**
 * Registers hints for what expressions read from objects, by their declared types.
 */
final class ExpressionHints {

	private static final SpelExpressionParser parser = new SpelExpressionParser();

	private final ReflectionHints hints;

	/** Names of properties and methods in the expressions. */
	private final Set<String> members = new HashSet<>();

	private final Set<String> seen = new HashSet<>();

	private boolean expressions;

	ExpressionHints(ReflectionHints hints) {
		this.hints = hints;
	}

	/** Adds an expression; one that cannot be parsed fails at startup. */
	void add(String expression) {
		try {
			add(parser.parseRaw(expression).getAST());
			this.expressions = true;
		}
		catch (ParseException | IllegalStateException ex) {
			// The application fails at startup anyway.
		}
	}

	private void add(SpelNode node) {
		if (node instanceof PropertyOrFieldReference property) {
			this.members.add(property.getName());
		}
		else if (node instanceof MethodReference method) {
			this.members.add(method.getName());
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			add(node.getChild(i));
		}
	}

	/**
	 * Registers what the expressions may use of a type and of the types of its members.
	 */
	void register(ResolvableType type) {
		if (this.expressions && has(type)) {
			registerAll(type);
		}
	}

	/** Returns whether an expression may use a member of a type or of its elements. */
	private boolean has(ResolvableType type) {
		return type.isArray() || type.hasGenerics() || Stream.of(type.toClass().getMethods()).anyMatch(this::isNamed)
				|| Stream.of(type.toClass().getFields()).anyMatch((field) -> this.members.contains(field.getName()));
	}

	private void registerAll(ResolvableType type) {
		if (!this.seen.add(type.toString())) {
			return;
		}
		if (type.isArray()) {
			registerAll(type.getComponentType());
			return;
		}
		for (ResolvableType generic : type.getGenerics()) {
			registerAll(generic);
		}
		Class<?> raw = type.toClass();
		if (raw.isPrimitive() || raw == Object.class) {
			return;
		}
		this.hints.registerType(raw, MemberCategory.INVOKE_PUBLIC_METHODS, MemberCategory.ACCESS_PUBLIC_FIELDS);
		for (Method method : raw.getMethods()) {
			if (isNamed(method)) {
				registerAll(ResolvableType.forMethodReturnType(method, raw));
			}
		}
		for (Field field : raw.getFields()) {
			if (this.members.contains(field.getName())) {
				registerAll(ResolvableType.forField(field, raw));
			}
		}
	}

	private boolean isNamed(Method method) {
		String name = method.getName();
		return this.members.contains(name) || Stream.of("get", "is")
			.anyMatch((prefix) -> name.startsWith(prefix) && name.length() > prefix.length()
					&& this.members.contains(StringUtils.uncapitalizeAsProperty(name.substring(prefix.length()))));
	}

}
