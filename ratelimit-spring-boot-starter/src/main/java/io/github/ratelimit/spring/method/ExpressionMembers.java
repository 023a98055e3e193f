package io.github.ratelimit.spring.method;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Refuses misspelt names of properties and methods, based on the declared types of
 * parameters.
 * <p>
 * An argument may be of a subclass with more members than the declared type. An unknown
 * name is therefore refused only if the type is final or has a very similar name. Nothing
 * is checked on {@code Object}, on maps, or on what is read from them.
 */
final class ExpressionMembers {

	/** Types whose members SpEL does not find by reflection on the class alone. */
	private static final List<Class<?>> UNKNOWN = List.of(Map.class, Class.class, Optional.class);

	private final Function<String, ResolvableType> variables;

	/**
	 * Creates a check.
	 * @param variables returns the type of a variable; {@code NONE} if it is unknown
	 */
	ExpressionMembers(Function<String, ResolvableType> variables) {
		this.variables = variables;
	}

	/**
	 * Checks an expression.
	 * @return the type of the result; {@code NONE} if it is unknown
	 * @throws IllegalArgumentException if a name is misspelt
	 */
	ResolvableType check(SpelNode node) {
		if (node instanceof CompoundExpression) {
			ResolvableType type = check(node.getChild(0));
			for (int i = 1; i < node.getChildCount(); i++) {
				SpelNode part = node.getChild(i);
				checkChildren(part);
				type = typeOf(part, type);
			}
			return type;
		}
		checkChildren(node);
		return (node instanceof VariableReference) ? this.variables.apply(node.toStringAST().substring(1))
				: ResolvableType.NONE;
	}

	private void checkChildren(SpelNode node) {
		for (int i = 0; i < node.getChildCount(); i++) {
			check(node.getChild(i));
		}
	}

	private static ResolvableType typeOf(SpelNode part, ResolvableType owner) {
		Class<?> type = ClassUtils.resolvePrimitiveIfNecessary(owner.toClass());
		if (type == Object.class || UNKNOWN.stream().anyMatch((unknown) -> unknown.isAssignableFrom(type))) {
			return ResolvableType.NONE;
		}
		if (part instanceof Indexer) {
			return type.isArray() ? owner.getComponentType() : owner.as(List.class).getGeneric(0);
		}
		if (part instanceof PropertyOrFieldReference property) {
			return typeOfProperty(property.getName(), type, owner);
		}
		if (part instanceof MethodReference method) {
			return typeOfMethod(method.getName(), method.getChildCount(), type, owner);
		}
		return ResolvableType.NONE;
	}

	private static ResolvableType typeOfProperty(String name, Class<?> type, ResolvableType owner) {
		if (type.isArray() && name.equals("length")) {
			return ResolvableType.forClass(int.class);
		}
		Set<String> names = new TreeSet<>();
		for (Method method : type.getMethods()) {
			if (method.getParameterCount() == 0) {
				String property = property(method.getName());
				if (name.equals(method.getName()) || StringUtils.capitalize(name).equals(property)
						|| name.equals(property)) {
					return returned(method, owner);
				}
				names.add((property != null) ? StringUtils.uncapitalizeAsProperty(property) : method.getName());
			}
		}
		for (Field field : type.getFields()) {
			if (name.equals(field.getName())) {
				return ResolvableType.forField(field, owner.as(field.getDeclaringClass()));
			}
			names.add(field.getName());
		}
		if (type.isArray()) {
			names = Set.of("length");
		}
		requireNotMisspelt("property", name, type, names);
		return ResolvableType.NONE;
	}

	private static @Nullable String property(String method) {
		return Stream.of("get", "is")
			.filter((prefix) -> method.startsWith(prefix) && method.length() > prefix.length())
			.map((prefix) -> method.substring(prefix.length()))
			.findFirst()
			.orElse(null);
	}

	private static ResolvableType typeOfMethod(String name, int arguments, Class<?> type, ResolvableType owner) {
		List<Method> methods = Stream.of(type, Object.class)
			.flatMap((each) -> Stream.of(each.getMethods()))
			.distinct()
			.toList();
		List<Method> named = methods.stream().filter((method) -> method.getName().equals(name)).toList();
		if (named.isEmpty()) {
			requireNotMisspelt("method", name, type, methods.stream().map(Method::getName).collect(Collectors.toSet()));
		}
		// The return type of an overloaded method depends on the arguments.
		return (named.size() == 1 && named.get(0).getParameterCount() == arguments) ? returned(named.get(0), owner)
				: ResolvableType.NONE;
	}

	private static ResolvableType returned(Method method, ResolvableType owner) {
		return ResolvableType.forType(method.getGenericReturnType(), owner.as(method.getDeclaringClass()));
	}

	private static void requireNotMisspelt(String kind, String name, Class<?> type, Set<String> names) {
		String nearest = names.stream()
			.min(Comparator.comparingInt((String other) -> distance(name, other))
				.thenComparing(Comparator.naturalOrder()))
			.orElse("");
		if (Modifier.isFinal(type.getModifiers()) || isMisspelt(name, nearest)) {
			throw new IllegalArgumentException("there is no %s '%s' in %s%s".formatted(kind, name, type.getTypeName(),
					(distance(name, nearest) <= name.length() / 2) ? ", the nearest is '" + nearest + "'" : ""));
		}
	}

	/**
	 * Swapped letters, or small differences in long names, are hardly intended.
	 */
	private static boolean isMisspelt(String name, String nearest) {
		boolean swapped = name.length() == nearest.length()
				&& Arrays.equals(name.chars().sorted().toArray(), nearest.chars().sorted().toArray());
		return distance(name, nearest) <= 1 && (swapped || Math.min(name.length(), nearest.length()) > 5)
				&& name.charAt(0) == nearest.charAt(0) && !name.startsWith(nearest) && !nearest.startsWith(name)
				&& name.chars().noneMatch(Character::isDigit);
	}

	/** Counts letters that are wrong, missing, added, or swapped with the next one. */
	private static int distance(String left, String right) {
		String a = left.toLowerCase(Locale.ROOT);
		String b = right.toLowerCase(Locale.ROOT);
		int[][] distances = new int[a.length() + 1][b.length() + 1];
		for (int i = 0; i <= a.length(); i++) {
			for (int j = 0; j <= b.length(); j++) {
				if (i == 0 || j == 0) {
					distances[i][j] = i + j;
					continue;
				}
				int wrong = (a.charAt(i - 1) == b.charAt(j - 1)) ? 0 : 1;
				int least = Math.min(distances[i - 1][j - 1] + wrong,
						Math.min(distances[i - 1][j], distances[i][j - 1]) + 1);
				if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
					least = Math.min(least, distances[i - 2][j - 2] + 1);
				}
				distances[i][j] = least;
			}
		}
		return distances[a.length()][b.length()];
	}

}
