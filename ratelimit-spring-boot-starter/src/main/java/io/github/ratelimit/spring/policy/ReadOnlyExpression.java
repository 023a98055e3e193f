package io.github.ratelimit.spring.policy;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

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

	private final Set<String> members = new HashSet<>();

	private ReadOnlyExpression(SpelExpression expression, Map<String, Class<?>> known) {
		this.expression = expression;
		new Check(known).check(expression.getAST(), false, false);
		this.type = new ExpressionTypes(expression.getExpressionString(), known).find(expression.getAST());
	}

	/**
	 * Parses an expression.
	 * @param text the expression
	 * @param variables the types of the variables that it may read, by their names
	 * without {@code #}; {@code Object} if the type is unknown
	 * @return the expression
	 * @throws IllegalArgumentException if the expression is empty, cannot be parsed, uses
	 * something that is not allowed, or a property or method that the type of a variable
	 * does not have
	 */
	public static ReadOnlyExpression parse(String text, Map<String, Class<?>> variables) {
		if (text.isBlank()) {
			throw new IllegalArgumentException(
					"Invalid expression (%s): is empty; in YAML, # begins a comment unless the expression is in quotes."
						.formatted(text));
		}
		try {
			return new ReadOnlyExpression(parser.parseRaw(text), variables);
		}
		catch (ParseException | IllegalStateException ex) {
			String problem = (ex instanceof ParseException parse) ? parse.getSimpleMessage()
					: String.valueOf(ex.getMessage());
			throw new IllegalArgumentException("Invalid expression (%s): %s.".formatted(text, problem), ex);
		}
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

	/** Walks an expression. */
	private final class Check {

		private final Set<String> known;

		Check(Map<String, Class<?>> known) {
			this.known = new TreeSet<>(known.keySet());
		}

		/**
		 * Checks a part of the expression.
		 * @param node the part
		 * @param chained whether it follows an object, as after a dot
		 * @param element whether it may refer to an element, as in a selection
		 */
		void check(SpelNode node, boolean chained, boolean element) {
			if (FORBIDDEN.contains(node.getClass())) {
				throw invalid("%s is not allowed", node);
			}
			if (node instanceof VariableReference) {
				checkVariable(node, element);
			}
			if (!chained && !element && OF_AN_OBJECT.contains(node.getClass())) {
				throw invalid("%s does not follow a variable", node);
			}
			if (node instanceof PropertyOrFieldReference property) {
				ReadOnlyExpression.this.members.add(property.getName());
			}
			else if (node instanceof MethodReference method) {
				ReadOnlyExpression.this.members.add(method.getName());
			}
			else if (node instanceof Indexer && node.getChildCount() == 1
					&& node.getChild(0) instanceof StringLiteral literal) {
				// An index is the name of a property unless the object is a map.
				ReadOnlyExpression.this.members.add(String.valueOf(literal.getLiteralValue().getValue()));
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
			if (!this.known.contains(name)) {
				throw invalid("%s is not allowed", node);
			}
			ReadOnlyExpression.this.variables.add(name);
		}

		private IllegalArgumentException invalid(String problem, SpelNode node) {
			return new IllegalArgumentException(
					"Invalid expression (%s): %s; it may only read properties and methods of the variables %s."
						.formatted(ReadOnlyExpression.this, problem.formatted(node.toStringAST()),
								String.join(" and ", this.known.stream().map("#"::concat).toList())));
		}

	}

}
