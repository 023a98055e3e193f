package io.github.ratelimit.spring.expression;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.core.ResolvableType;
import org.springframework.util.StringUtils;

/**
 * Registers hints for what expressions read from objects, by their declared types.
 * <p>
 * Not safe for use by several threads.
 *
 * @since 0.1
 */
public final class ExpressionHints {

	private final ReflectionHints hints;

	/** Names of properties and methods in the expressions. */
	private final Set<String> members = new HashSet<>();

	private final Set<String> seen = new HashSet<>();

	private boolean expressions;

	/**
	 * Creates hints.
	 * @param hints where to register them
	 */
	public ExpressionHints(ReflectionHints hints) {
		this.hints = hints;
	}

	/**
	 * Adds an expression.
	 * @param expression the expression; one that cannot be parsed fails at startup
	 */
	public void add(String expression) {
		this.members.addAll(ReadOnlyExpression.members(expression));
		this.expressions = true;
	}

	/**
	 * Registers what the expressions may use of a type and of the types of its members.
	 * @param type the declared type of a variable
	 */
	public void register(ResolvableType type) {
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
