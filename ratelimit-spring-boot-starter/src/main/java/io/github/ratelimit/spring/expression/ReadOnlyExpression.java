package io.github.ratelimit.spring.expression;

import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import org.springframework.expression.PropertyAccessor;
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

	/** Remembers the properties that it has found, for all evaluations. */
	private final PropertyAccessor properties = DataBindingPropertyAccessor.forReadOnlyAccess();

	private final SpelExpression expression;

	/** The variables that it reads, with the members of each. */
	private final Map<String, Set<String>> read;

	private final Set<String> members = new HashSet<>();

	private ReadOnlyExpression(SpelExpression expression, Variables known) {
		this.expression = expression;
		ExpressionCheck check = new ExpressionCheck(known);
		check.check(expression.getAST(), false);
		this.read = check.read();
		ExpressionCheck.addMembers(expression.getAST(), this.members);
	}

	/**
	 * Parses an expression.
	 * @param kind what the expression is, for messages
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

	/** Adds the names of the properties and methods in an expression that parses. */
	static void addMembers(String text, Set<String> members) {
		try {
			ExpressionCheck.addMembers(parser.parseRaw(text).getAST(), members);
		}
		catch (ParseException | IllegalStateException | IllegalArgumentException ex) {
			// It fails at startup.
		}
	}

	/** Returns the names of the variables that it reads, without {@code #}. */
	public Set<String> variables() {
		return this.read.keySet();
	}

	/** Returns the names of the properties and methods that it reads of a variable. */
	public Set<String> membersOf(String variable) {
		return this.read.getOrDefault(variable, Set.of());
	}

	/** Returns whether the expression reads one of some members, of any object. */
	public boolean namesAny(Collection<String> names) {
		return names.stream().anyMatch(this.members::contains);
	}

	/**
	 * Evaluates the expression.
	 * @param values the values of the variables, by their names without {@code #}
	 * @param type the type to convert the value to
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
	 * @param types their types, by their names without {@code #}; {@code Object} if a
	 * type is unknown
	 * @param description what they are, for messages
	 * @param servlets whether values with a type of the servlet API have no members that
	 * the type does not have
	 */
	public record Variables(Map<String, Class<?>> types, String description, boolean servlets) {

	}

}
