package io.github.ratelimit.spring.expression;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.core.ResolvableType;

/**
 * Registers hints for what expressions read from objects, by their declared types.
 *
 * @since 0.1
 */
public final class ExpressionHints {

	private final ReflectionHints hints;

	/** Names of properties and methods in the expressions. */
	private final Set<String> members = new HashSet<>();

	private final Set<String> seen = new HashSet<>();

	private ExpressionHints(ReflectionHints hints) {
		this.hints = hints;
	}

	/**
	 * Registers what expressions may read of objects, and of what these return.
	 * @param hints where to register it
	 * @param expressions the expressions; one that cannot be parsed fails at startup
	 * @param types the declared types of their variables
	 */
	public static void register(ReflectionHints hints, Collection<String> expressions,
			Collection<ResolvableType> types) {
		ExpressionHints all = new ExpressionHints(hints);
		expressions.forEach((each) -> ReadOnlyExpression.addMembers(each, all.members));
		types.forEach(all::register);
	}

	private void register(ResolvableType type) {
		if (!this.seen.add(type.toString())) {
			return;
		}
		Class<?> raw = type.toClass();
		List<ResolvableType> read = Stream
			.concat(Stream.of(raw.getMethods())
				.filter((method) -> this.members.contains(method.getName())
						|| this.members.contains(ExpressionCheck.property(method)))
				.map((method) -> ResolvableType.forMethodReturnType(method, raw)),
					Stream.of(raw.getFields())
						.filter((field) -> this.members.contains(field.getName()))
						.map((field) -> ResolvableType.forField(field, raw)))
			.toList();
		if (!read.isEmpty()) {
			this.hints.registerType(raw, MemberCategory.INVOKE_PUBLIC_METHODS, MemberCategory.ACCESS_PUBLIC_FIELDS);
		}
		read.forEach(this::register);
		Stream.of(type.getGenerics()).forEach(this::register);
		if (type.isArray()) {
			register(type.getComponentType());
		}
	}

}
