package io.github.ratelimit.spring.expression;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import org.springframework.expression.PropertyAccessor;
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
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.DataBindingPropertyAccessor;
import org.springframework.expression.spel.support.SimpleEvaluationContext;

/**
 * An expression that can only read its variables: no types, beans, constructors or
 * functions, and no assignments. Expressions that can never be evaluated are refused when
 * they are parsed.
 * <p>
 * Safe for use by several threads.
 *
 * @since 0.1
 */
public final class ReadOnlyExpression {

	private static final SpelExpressionParser parser = new SpelExpressionParser();

	private static final List<Class<? extends SpelNode>> FORBIDDEN = List.of(TypeReference.class, BeanReference.class,
			ConstructorReference.class, FunctionReference.class, Assign.class, OpInc.class, OpDec.class);

	private static final List<Class<? extends SpelNode>> OF_AN_OBJECT = List.of(PropertyOrFieldReference.class,
			MethodReference.class, Indexer.class, Projection.class, Selection.class);

	/** Remembers the properties that it has found, for all evaluations. */
	private final PropertyAccessor properties = DataBindingPropertyAccessor.forReadOnlyAccess();

	private final SpelExpression expression;

	private final @Nullable Class<?> type;

	private final Set<String> variables = new TreeSet<>();

	private final Set<String> members;

	private ReadOnlyExpression(SpelExpression expression, Variables known) {
		this.expression = expression;
		new Check(known).check(expression.getAST(), false, false);
		this.members = members(expression.getAST(), new HashSet<>());
		Class<?> type = new ExpressionTypes(known).find(expression.getAST()).resolve();
		this.type = (type != null) ? ExpressionTypes.wrapper(type) : null;
	}

	/**
	 * Parses an expression.
	 * @param kind what the expression is, for messages
	 * @param text the expression
	 * @param variables the variables that it may read
	 * @return the expression
	 * @throws IllegalArgumentException if the expression is empty, cannot be parsed, uses
	 * something that is not allowed, or a property or method that its object certainly
	 * does not have
	 */
	public static ReadOnlyExpression parse(String kind, String text, Variables variables) {
		try {
			if (text.isBlank()) {
				throw new IllegalArgumentException(
						"is empty; in YAML, # begins a comment unless the expression is in quotes");
			}
			return new ReadOnlyExpression(parser.parseRaw(text), variables);
		}
		catch (ParseException | IllegalStateException | IllegalArgumentException ex) {
			String problem = (ex instanceof ParseException parse) ? parse.getSimpleMessage()
					: String.valueOf(ex.getMessage());
			throw new IllegalArgumentException("Invalid %s (%s): %s.".formatted(kind, text, problem), ex);
		}
	}

	/**
	 * Returns the names of the properties and methods in an expression.
	 * @return the names; empty if the expression cannot be parsed
	 */
	static Set<String> members(String text) {
		try {
			return members(parser.parseRaw(text).getAST(), new HashSet<>());
		}
		catch (ParseException | IllegalStateException | IllegalArgumentException ex) {
			return Set.of();
		}
	}

	private static Set<String> members(SpelNode node, Set<String> names) {
		if (node instanceof PropertyOrFieldReference property) {
			names.add(property.getName());
		}
		else if (node instanceof MethodReference method) {
			names.add(method.getName());
		}
		else if (node instanceof Indexer && node.getChildCount() == 1
				&& node.getChild(0) instanceof StringLiteral literal) {
			// An index is the name of a property unless the object is a map.
			names.add(String.valueOf(literal.getLiteralValue().getValue()));
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			members(node.getChild(i), names);
		}
		return names;
	}

	/**
	 * Returns the variables that the expression reads.
	 * @return their names without {@code #}; may be empty
	 */
	public Set<String> variables() {
		return Set.copyOf(this.variables);
	}

	/**
	 * Returns whether the expression uses one of some properties or methods.
	 * @param names the names of properties and methods
	 * @return whether it uses one of them, on any object
	 */
	public boolean namesAny(Collection<String> names) {
		return names.stream().anyMatch(this.members::contains);
	}

	/**
	 * Returns the type of the value.
	 * @return the type, a wrapper instead of a primitive one; {@code null} if it is known
	 * only by evaluation
	 */
	public @Nullable Class<?> type() {
		return this.type;
	}

	/**
	 * Evaluates the expression.
	 * @param values the values of the variables, by their names without {@code #}; may
	 * hold {@code null}
	 * @return the value
	 * @throws EvaluationException if a property or method does not exist; exceptions of
	 * the methods that it calls are passed on
	 */
	public @Nullable Object evaluate(Map<String, ? extends @Nullable Object> values) {
		return evaluate(values, Object.class);
	}

	/**
	 * Evaluates the expression.
	 * @param <T> the type of the value
	 * @param values the values of the variables, by their names without {@code #}; may
	 * hold {@code null}
	 * @param type the type to convert the value to
	 * @return the value
	 * @throws EvaluationException if a property or method does not exist, or the value
	 * cannot be converted; exceptions of the methods that it calls are passed on
	 */
	public <T> @Nullable T evaluate(Map<String, ? extends @Nullable Object> values, Class<T> type) {
		SimpleEvaluationContext context = SimpleEvaluationContext.forPropertyAccessors(this.properties)
			.withAssignmentDisabled()
			.withInstanceMethods()
			.build();
		values.forEach(context::setVariable);
		return this.expression.getValue(context, type);
	}

	/** Returns the expression as written. */
	@Override
	public String toString() {
		return this.expression.getExpressionString();
	}

	/**
	 * The variables that an expression may read.
	 *
	 * @param types their types, by their names without {@code #};
	 * {@link ResolvableType#NONE} if a type is unknown
	 * @param description what they are, for messages
	 * @param servlets whether values with a type of the servlet API have no members that
	 * the type does not have
	 */
	public record Variables(Map<String, ResolvableType> types, String description, boolean servlets) {

	}

	/** Walks an expression. */
	private final class Check {

		private final Variables known;

		Check(Variables known) {
			this.known = known;
		}

		/**
		 * Checks a part of the expression.
		 * @param node the part
		 * @param chained whether it follows an object, as after a dot
		 * @param element whether it may refer to an element, as in a selection
		 */
		void check(SpelNode node, boolean chained, boolean element) {
			if (FORBIDDEN.contains(node.getClass())) {
				throw invalid("is not allowed", node);
			}
			if (node instanceof VariableReference) {
				checkVariable(node, element);
			}
			if (!chained && !element && OF_AN_OBJECT.contains(node.getClass())) {
				throw invalid("does not follow a variable", node);
			}
			// The arguments of a method do not belong to its object.
			boolean within = element || node instanceof Projection || node instanceof Selection;
			for (int i = 0; i < node.getChildCount(); i++) {
				boolean keyOfMap = node instanceof InlineMap && i % 2 == 0;
				check(node.getChild(i), keyOfMap || (node instanceof CompoundExpression && i > 0), within);
			}
		}

		private void checkVariable(SpelNode node, boolean element) {
			String name = node.toStringAST().substring(1);
			if (name.equals("this") && element) {
				return;
			}
			if (!this.known.types().containsKey(name)) {
				throw invalid("is not allowed", node);
			}
			ReadOnlyExpression.this.variables.add(name);
		}

		private IllegalArgumentException invalid(String problem, SpelNode node) {
			return new IllegalArgumentException("%s %s; it may only read properties and methods of %s"
				.formatted(node.toStringAST(), problem, this.known.description()));
		}

	}

}
