package io.github.ratelimit.spring.expression;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.spring.expression.ReadOnlyExpression.Variables;
import io.github.ratelimit.spring.policy.NearestNames;

import org.springframework.core.ResolvableType;
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
 * refuses misspelt names of properties and methods.
 * <p>
 * An object may be of a subclass with more members than the declared type. Unknown names,
 * and numbers of arguments without a method, are therefore refused only if the type is
 * final, or of the servlet API where that has all members. In other types a name is
 * refused only if it is almost one that the type has. Nothing is checked on
 * {@code Object}, {@code Class}, {@code Map} and {@code Optional}, or on what is read
 * from them.
 */
final class ExpressionTypes {

	/** Types whose members SpEL does not find by reflection on the class alone. */
	private static final List<Class<?>> UNKNOWN = List.of(Map.class, Class.class, Optional.class);

	/** Methods that any subclass may have. */
	private static final Set<String> OF_ALL = Set.of("toString", "equals", "hashCode");

	private static final int SHORTEST_WITH_WRONG_LETTER = 6;

	private static final int SHORTEST_WITHOUT_LETTER = 4;

	private final Variables variables;

	ExpressionTypes(Variables variables) {
		this.variables = variables;
	}

	/**
	 * Checks a part of an expression.
	 * @return the type of its value; {@code NONE} if it is unknown
	 * @throws IllegalArgumentException if a name is misspelt
	 */
	ResolvableType find(SpelNode node) {
		if (node instanceof CompoundExpression) {
			ResolvableType type = find(node.getChild(0));
			for (int i = 1; i < node.getChildCount(); i++) {
				SpelNode part = node.getChild(i);
				findInside(part);
				type = ofMember(part, type);
			}
			return type;
		}
		findInside(node);
		if (node instanceof VariableReference) {
			return this.variables.types().getOrDefault(node.toStringAST().substring(1), ResolvableType.NONE);
		}
		if (node instanceof StringLiteral) {
			return ResolvableType.forClass(String.class);
		}
		return (node instanceof OpEQ || node instanceof OpNE) ? ResolvableType.forClass(Boolean.class)
				: ResolvableType.NONE;
	}

	private void findInside(SpelNode node) {
		for (int i = 0; i < node.getChildCount(); i++) {
			find(node.getChild(i));
		}
	}

	static Class<?> wrapper(Class<?> type) {
		return ClassUtils.resolvePrimitiveIfNecessary(type);
	}

	private ResolvableType ofMember(SpelNode member, ResolvableType owner) {
		Class<?> type = wrapper(owner.toClass());
		if (type == Object.class || hasLowerBound(owner, new HashSet<>())
				|| UNKNOWN.stream().anyMatch((unknown) -> unknown.isAssignableFrom(type))) {
			return ResolvableType.NONE;
		}
		if (member instanceof Indexer) {
			return type.isArray() ? owner.getComponentType() : owner.as(List.class).getGeneric(0);
		}
		if (member instanceof PropertyOrFieldReference property) {
			return ofProperty(property.getName(), type, owner);
		}
		if (member instanceof MethodReference method) {
			return ofMethod(method.getName(), method.getChildCount(), type, owner);
		}
		return ResolvableType.NONE;
	}

	private ResolvableType ofProperty(String name, Class<?> type, ResolvableType owner) {
		if (type.isArray() && name.equals("length")) {
			return ResolvableType.forClass(int.class);
		}
		String suffix = StringUtils.capitalize(name);
		Optional<Method> getter = Stream.of("get" + suffix, "get" + name, "is" + suffix, "is" + name, name)
			.flatMap((method) -> getters(type).filter((other) -> other.getName().equals(method)
					&& (method.equals(name) || !method.startsWith("is") || isBoolean(other))))
			.findFirst();
		if (getter.isPresent()) {
			return returned(getter.get(), owner);
		}
		Set<String> names = getters(type).map(ExpressionTypes::property).collect(Collectors.toCollection(TreeSet::new));
		for (Field field : type.getFields()) {
			if (name.equals(field.getName())) {
				return ResolvableType.forField(field, owner.as(field.getDeclaringClass()));
			}
			names.add(field.getName());
		}
		requireNotMisspelt("property", name, type, type.isArray() ? Set.of("length") : names);
		return ResolvableType.NONE;
	}

	private static Stream<Method> getters(Class<?> type) {
		return methods(type).stream().filter((method) -> method.getParameterCount() == 0);
	}

	private static boolean isBoolean(Method method) {
		return wrapper(method.getReturnType()) == Boolean.class;
	}

	private static String property(Method method) {
		String name = method.getName();
		return Stream.of("get", "is")
			.filter((prefix) -> name.startsWith(prefix) && name.length() > prefix.length()
					&& (prefix.equals("get") || isBoolean(method)))
			.map((prefix) -> StringUtils.uncapitalizeAsProperty(name.substring(prefix.length())))
			.findFirst()
			.orElse(name);
	}

	private ResolvableType ofMethod(String name, int arguments, Class<?> type, ResolvableType owner) {
		List<Method> named = methods(type).stream().filter((method) -> method.getName().equals(name)).toList();
		if (named.isEmpty() && OF_ALL.contains(name)) {
			return ResolvableType.NONE;
		}
		if (named.isEmpty()) {
			requireNotMisspelt("method", name, type,
					methods(type).stream().map(Method::getName).collect(Collectors.toSet()));
			return ResolvableType.NONE;
		}
		List<Method> callable = named.stream()
			.filter((method) -> method.getParameterCount() == arguments || method.isVarArgs())
			.toList();
		if (callable.isEmpty() && isComplete(type)) {
			throw new IllegalArgumentException(
					"there is no method '%s' with %d arguments in %s".formatted(name, arguments, type.getTypeName()));
		}
		// Which of several methods is called depends on the arguments.
		return (callable.stream().map(Method::getGenericReturnType).distinct().count() == 1)
				? returned(callable.get(0), owner) : ResolvableType.NONE;
	}

	/** The methods that expressions may call: not those of {@code Object}. */
	private static List<Method> methods(Class<?> type) {
		return Stream.of(type.getMethods()).filter((method) -> method.getDeclaringClass() != Object.class).toList();
	}

	private static ResolvableType returned(Method method, ResolvableType owner) {
		return ResolvableType.forType(method.getGenericReturnType(), owner.as(method.getDeclaringClass()));
	}

	/**
	 * Objects of {@code ? super X} may be of any type.
	 * @param seen the types that were looked at: a variable may be in its own bound
	 */
	private static boolean hasLowerBound(ResolvableType type, Set<Type> seen) {
		return (type.getType() instanceof WildcardType wildcard && wildcard.getLowerBounds().length > 0)
				|| (seen.add(type.getType())
						&& Stream.of(type.getGenerics()).anyMatch((generic) -> hasLowerBound(generic, seen)));
	}

	/** Returns whether objects have no other members than their declared type. */
	private boolean isComplete(Class<?> type) {
		return Modifier.isFinal(type.getModifiers())
				|| (this.variables.servlets() && type.getName().startsWith("jakarta.servlet."));
	}

	private void requireNotMisspelt(String kind, String name, Class<?> type, Set<String> names) {
		String nearest = names.stream()
			.min(Comparator.comparingInt((String other) -> NearestNames.distance(name, other))
				.thenComparing(Comparator.naturalOrder()))
			.orElse("");
		if (isComplete(type) || isMisspelt(name, nearest)) {
			throw new IllegalArgumentException("there is no %s '%s' in %s%s".formatted(kind, name, type.getTypeName(),
					(NearestNames.distance(name, nearest) <= name.length() / 2) ? ", the nearest is '" + nearest + "'"
							: ""));
		}
	}

	/**
	 * Swapped letters, a letter that is missing or added within a name, or a wrong one in
	 * a long name, are hardly intended. Many short words differ in one letter from
	 * others, as data does from date.
	 */
	private static boolean isMisspelt(String name, String nearest) {
		boolean swapped = name.length() == nearest.length()
				&& Arrays.equals(name.chars().sorted().toArray(), nearest.chars().sorted().toArray());
		int shortest = (name.length() == nearest.length()) ? SHORTEST_WITH_WRONG_LETTER : SHORTEST_WITHOUT_LETTER;
		return NearestNames.distance(name, nearest) <= 1
				&& (swapped || Math.min(name.length(), nearest.length()) >= shortest)
				&& name.charAt(0) == nearest.charAt(0) && !name.startsWith(nearest) && !nearest.startsWith(name)
				&& name.chars().noneMatch(Character::isDigit);
	}

}
