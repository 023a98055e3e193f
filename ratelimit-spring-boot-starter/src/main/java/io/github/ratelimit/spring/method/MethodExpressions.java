package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ResolvableType;
import org.springframework.expression.ParseException;
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
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/**
 * Parses the expressions in the annotations of a method, and refuses those that no call
 * can evaluate.
 */
final class MethodExpressions {

	private static final SpelExpressionParser parser = new SpelExpressionParser();

	private final Map<String, Integer> parameters = new LinkedHashMap<>();

	private final List<ResolvableType> types;

	private final boolean namesAreKnown;

	private final String method;

	private final String place;

	/**
	 * Creates the expressions of a method.
	 * @param method the method whose parameters the expressions use
	 * @param type the class of the object
	 * @param place names the annotation in messages
	 */
	MethodExpressions(Method method, Class<?> type, String place) {
		this.method = method.toGenericString();
		this.place = place;
		this.types = DeclaredParameters.types(method, type);
		@Nullable String[] names = DefaultParameterNameDiscoverer.getSharedInstance().getParameterNames(method);
		this.namesAreKnown = names != null;
		for (int i = 0; i < this.types.size(); i++) {
			this.parameters.put("a" + i, i);
			this.parameters.put("p" + i, i);
			if (names != null && i < names.length && names[i] != null) {
				this.parameters.put(names[i], i);
			}
		}
	}

	/**
	 * Parses an expression.
	 * @param attribute the attribute of the annotation
	 * @param text the expression
	 * @throws IllegalArgumentException if no call can evaluate it
	 */
	MethodExpression parse(String attribute, String text) {
		try {
			SpelExpression expression = parser.parseRaw(text);
			Map<String, Integer> variables = new TreeMap<>();
			new Check(variables).check(expression.getAST(), false, false);
			new ExpressionMembers((name) -> type(variables.get(name))).check(expression.getAST());
			return new MethodExpression(expression, variables, attribute, this.place);
		}
		catch (ParseException | IllegalStateException | IllegalArgumentException ex) {
			throw new IllegalArgumentException("Invalid %s (%s): %s.".formatted(attribute, text, ex.getMessage()), ex);
		}
	}

	private ResolvableType type(@Nullable Integer index) {
		return (index != null) ? this.types.get(index) : ResolvableType.NONE;
	}

	private String known() {
		if (this.parameters.isEmpty()) {
			return "%s has no parameters".formatted(this.method);
		}
		return "the parameters of %s are %s%s".formatted(this.method,
				this.parameters.keySet().stream().map("#"::concat).collect(Collectors.joining(", ")),
				this.namesAreKnown ? "" : " (compile with -parameters to use their names)");
	}

	/** Walks an expression. */
	private final class Check {

		private final Map<String, Integer> variables;

		Check(Map<String, Integer> variables) {
			this.variables = variables;
		}

		/**
		 * Checks a part of the expression.
		 * @param node the part
		 * @param chained whether it follows an object, as after a dot
		 * @param element whether it may refer to an element, as in a selection
		 */
		void check(SpelNode node, boolean chained, boolean element) {
			if (node instanceof TypeReference || node instanceof ConstructorReference || node instanceof BeanReference
					|| node instanceof FunctionReference || node instanceof Assign || node instanceof OpInc
					|| node instanceof OpDec) {
				throw new IllegalArgumentException(
						"'%s' is not allowed; an expression may only read the arguments".formatted(node.toStringAST()));
			}
			if (node instanceof VariableReference) {
				checkVariable(node.toStringAST().substring(1), element);
			}
			if (!chained && !element && belongsToAnObject(node)) {
				throw new IllegalArgumentException("'%s' does not follow an argument; arguments start with #, and %s"
					.formatted(node.toStringAST(), known()));
			}
			boolean within = element || node instanceof Projection || node instanceof Selection;
			for (int i = 0; i < node.getChildCount(); i++) {
				boolean keyOfMap = node instanceof InlineMap && i % 2 == 0;
				check(node.getChild(i), keyOfMap || (node instanceof CompoundExpression && i > 0), within);
			}
		}

		private static boolean belongsToAnObject(SpelNode node) {
			return node instanceof PropertyOrFieldReference || node instanceof MethodReference
					|| node instanceof Indexer || node instanceof Projection || node instanceof Selection;
		}

		private void checkVariable(String name, boolean element) {
			if (name.equals("this") && element) {
				return;
			}
			Integer index = MethodExpressions.this.parameters.get(name);
			if (index == null || name.equals("this") || name.equals("root")) {
				throw new IllegalArgumentException("#%s is not a parameter; %s".formatted(name, known()));
			}
			this.variables.put(name, index);
		}

	}

}
