package io.github.ratelimit.spring.expression;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import io.github.ratelimit.spring.decide.NearestNames;
import io.github.ratelimit.spring.expression.ReadOnlyExpression.Variables;
import org.jspecify.annotations.Nullable;

import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.Assign;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpDec;
import org.springframework.expression.spel.ast.OpInc;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Walks an expression, and refuses what can never be evaluated: anything but reading
 * known variables, and misspelt names of properties and methods.
 * <p>
 * An object may be of a subclass with more members than the declared type. Unknown names,
 * and numbers of arguments without a method, are therefore refused only if the type is
 * final, or of the servlet API where that has all members. In other types a name is
 * refused only if it is almost one that the type has. Nothing is checked on
 * {@code Object}, {@code Class}, {@code Map} and {@code Optional}, or on what is read
 * from them; type arguments are not looked at.
 */
final class ExpressionCheck {

	private static final List<Class<? extends SpelNode>> FORBIDDEN = List.of(TypeReference.class, BeanReference.class,
			ConstructorReference.class, FunctionReference.class, Assign.class, OpInc.class, OpDec.class);

	private static final List<Class<? extends SpelNode>> OF_AN_OBJECT = List.of(PropertyOrFieldReference.class,
			MethodReference.class, Indexer.class, Projection.class, Selection.class);

	/** Types whose members SpEL does not find by reflection on the class alone. */
	private static final List<Class<?>> UNKNOWN = List.of(Map.class, Class.class, Optional.class);

	/** Methods that any subclass may have. */
	private static final Set<String> OF_ALL = Set.of("toString", "equals", "hashCode");

	private static final int SHORTEST_WITH_WRONG_LETTER = 6;

	private static final int SHORTEST_WITHOUT_LETTER = 4;

	private final Variables known;

	private final Properties properties = new Properties();

	/** The variables that are read, with the members of each. */
	private final Map<String, Set<String>> read = new HashMap<>();

	ExpressionCheck(Variables known) {
		this.known = known;
	}

	Map<String, Set<String>> read() {
		return this.read;
	}

	/**
	 * Checks a part of the expression.
	 * @param element whether it may refer to an element, as in a selection
	 * @return the type of its value; {@code Object} if it is unknown
	 * @throws IllegalArgumentException if it can never be evaluated
	 */
	Class<?> check(SpelNode node, boolean element) {
		if (FORBIDDEN.contains(node.getClass())) {
			throw invalid("is not allowed", node);
		}
		if (node instanceof CompoundExpression) {
			return checkChain(node, element);
		}
		if (!element && OF_AN_OBJECT.contains(node.getClass())) {
			throw invalid("does not follow a variable", node);
		}
		checkInside(node, element);
		return (node instanceof VariableReference) ? ofVariable(node, element) : Object.class;
	}

	private Class<?> checkChain(SpelNode chain, boolean element) {
		Class<?> type = check(chain.getChild(0), element);
		if (chain.getChild(0) instanceof VariableReference variable) {
			addMember(chain.getChild(1), this.read.getOrDefault(name(variable), new HashSet<>()));
		}
		for (int i = 1; i < chain.getChildCount(); i++) {
			SpelNode member = chain.getChild(i);
			if (FORBIDDEN.contains(member.getClass()) || member instanceof VariableReference) {
				throw invalid("is not allowed", member);
			}
			checkInside(member, element);
			type = ofMember(member, type);
		}
		return type;
	}

	private void checkInside(SpelNode node, boolean element) {
		boolean within = element || node instanceof Projection || node instanceof Selection;
		for (int i = 0; i < node.getChildCount(); i++) {
			SpelNode child = node.getChild(i);
			boolean mayBeKey = node instanceof Indexer || (node instanceof InlineMap && i % 2 == 0);
			if (!mayBeKey || !(child instanceof PropertyOrFieldReference)) {
				check(child, within);
			}
		}
	}

	private Class<?> ofVariable(SpelNode node, boolean element) {
		String name = name(node);
		Class<?> type = this.known.types().get(name);
		if (type == null && name.equals("this") && element) {
			return Object.class;
		}
		if (type == null) {
			throw invalid("is not allowed", node);
		}
		this.read.computeIfAbsent(name, (key) -> new TreeSet<>());
		return type;
	}

	private static String name(SpelNode variable) {
		return variable.toStringAST().substring(1);
	}

	private IllegalArgumentException invalid(String problem, SpelNode node) {
		return new IllegalArgumentException("%s %s; it may only read properties and methods of %s"
			.formatted(node.toStringAST(), problem, this.known.description()));
	}

	/** Adds the names of the properties and methods in an expression. */
	static void addMembers(SpelNode node, Set<String> names) {
		addMember(node, names);
		for (int i = 0; i < node.getChildCount(); i++) {
			addMembers(node.getChild(i), names);
		}
	}

	private static void addMember(SpelNode node, Set<String> names) {
		if (node instanceof PropertyOrFieldReference property) {
			names.add(property.getName());
		}
		else if (node instanceof MethodReference method) {
			names.add(method.getName());
		}
		else if (node instanceof Indexer && node.getChild(0) instanceof StringLiteral literal) {
			// An index is the name of a property unless the object is a map.
			names.add(String.valueOf(literal.getLiteralValue().getValue()));
		}
	}

	private Class<?> ofMember(SpelNode member, Class<?> owner) {
		Class<?> type = ClassUtils.resolvePrimitiveIfNecessary(owner);
		if (type == Object.class || UNKNOWN.stream().anyMatch((unknown) -> unknown.isAssignableFrom(type))) {
			return Object.class;
		}
		if (member instanceof Indexer) {
			if (member.getChild(0) instanceof PropertyOrFieldReference && isComplete(type)) {
				throw new IllegalArgumentException(
						"%s is a key, but %s is no map".formatted(member.toStringAST(), type.getTypeName()));
			}
			return type.isArray() ? type.getComponentType() : Object.class;
		}
		if (member instanceof PropertyOrFieldReference property) {
			return ofProperty(property.getName(), type);
		}
		return (member instanceof MethodReference method) ? ofMethod(method.getName(), method.getChildCount(), type)
				: Object.class;
	}

	private Class<?> ofProperty(String name, Class<?> type) {
		if (type.isArray() && name.equals("length")) {
			return int.class;
		}
		Class<?> found = this.properties.find(name, type);
		if (found == null) {
			requireNotMisspelt("property", name, type,
					type.isArray() ? Stream.of("length")
							: Stream.concat(
									methods(type).filter((method) -> method.getParameterCount() == 0)
										.map(ExpressionCheck::property),
									Stream.of(type.getFields()).map(Field::getName)));
			return Object.class;
		}
		return found;
	}

	/** Returns the name by which an expression reads what a method returns. */
	static String property(Method method) {
		boolean flag = ClassUtils.resolvePrimitiveIfNecessary(method.getReturnType()) == Boolean.class;
		String suffix = method.getName().replaceFirst(flag ? "^(get|is)(?=.)" : "^get(?=.)", "");
		return suffix.equals(method.getName()) ? suffix : StringUtils.uncapitalizeAsProperty(suffix);
	}

	private Class<?> ofMethod(String name, int arguments, Class<?> type) {
		List<Method> named = methods(type).filter((method) -> method.getName().equals(name)).toList();
		if (named.isEmpty()) {
			if (!OF_ALL.contains(name)) {
				requireNotMisspelt("method", name, type, methods(type).map(Method::getName));
			}
			return Object.class;
		}
		List<Method> callable = named.stream()
			.filter((method) -> method.getParameterCount() == arguments || method.isVarArgs())
			.toList();
		if (callable.isEmpty() && isComplete(type)) {
			throw new IllegalArgumentException(
					"there is no method '%s' with %s arguments in %s".formatted(name, arguments, type.getTypeName()));
		}
		// Which of several methods is called depends on the arguments.
		return (callable.stream().map(Method::getReturnType).distinct().count() == 1) ? callable.get(0).getReturnType()
				: Object.class;
	}

	/** The methods that expressions may call: not those of {@code Object}. */
	private static Stream<Method> methods(Class<?> type) {
		return Stream.of(type.getMethods()).filter((method) -> method.getDeclaringClass() != Object.class);
	}

	/** Returns whether objects have no other members than their declared type. */
	private boolean isComplete(Class<?> type) {
		return Modifier.isFinal(type.getModifiers())
				|| (this.known.servlets() && type.getName().startsWith("jakarta.servlet."));
	}

	private void requireNotMisspelt(String kind, String name, Class<?> type, Stream<String> names) {
		String nearest = names
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

	/** Finds the properties that SpEL reads. */
	private static final class Properties extends ReflectivePropertyAccessor {

		@Nullable Class<?> find(String name, Class<?> type) {
			Method getter = findGetterForProperty(name, type, false);
			Field field = (getter == null) ? findField(name, type, false) : null;
			return (getter != null) ? getter.getReturnType() : (field != null) ? field.getType() : null;
		}

		@Override
		protected boolean isCandidateForProperty(Method method, Class<?> targetClass) {
			return method.getDeclaringClass() != Object.class;
		}

	}

}
