package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.IdentifierNames;
import io.github.ratelimit.spring.policy.PolicyUse;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * A limited method with all of its {@code @RateLimited} annotations.
 *
 * @param method the method as declared in the class of the object
 * @param annotations its annotations
 * @param fallback called for denied calls
 * @param result how a call is decided, and refused
 * @param place describes the annotated element in messages
 * @param onMethod whether the annotations are on the method rather than on its type
 */
record RateLimitedOperation(Method method, List<ReadAnnotation> annotations, @Nullable Fallback fallback,
		ResultType result, String place, boolean onMethod) {

	/** Returns what a call with these arguments uses of each policy. */
	List<PolicyUse> uses(@Nullable Object[] arguments) {
		return this.annotations.stream().map((annotation) -> annotation.use(arguments)).toList();
	}

	/**
	 * Returns the identifiers, or parts of them, that are known only on the thread of the
	 * caller: all except {@code global} and expressions over the arguments.
	 */
	Set<String> identifiersOfThread() {
		Set<String> names = new TreeSet<>();
		for (ReadAnnotation annotation : this.annotations) {
			for (String identifier : annotation.policy().identifiers()) {
				IdentifierNames.parts(identifier)
					.stream()
					.filter((part) -> !IdentifierNames.isExpression(part) && !part.equals(Identifier.GLOBAL.type()))
					.forEach(names::add);
			}
		}
		return names;
	}

	/** Returns a short description of the annotated element. */
	String shortPlace() {
		String type = this.method.getDeclaringClass().getSimpleName();
		return this.onMethod ? type + '.' + this.method.getName() : ClassUtils.getShortName(this.place);
	}

	/** Returns the policies that count the calls of the method. */
	List<IdentifiedPolicy> policies() {
		return this.annotations.stream().map(ReadAnnotation::policy).toList();
	}

	/** Describes the method in messages, also if its type is annotated. */
	String methodPlace() {
		return this.onMethod ? this.place : this.method.toGenericString();
	}

	/**
	 * An annotation: its policy and cost, and its expressions, ready to be evaluated.
	 *
	 * @param policy the policy to enforce
	 * @param cost the cost of a call, unless there is an expression for it
	 * @param costExpression returns the cost
	 * @param values expressions for the values of identifiers, by their text
	 */
	record ReadAnnotation(IdentifiedPolicy policy, long cost, @Nullable MethodExpression costExpression,
			Map<String, MethodExpression> values) {

		private PolicyUse use(@Nullable Object[] arguments) {
			long cost = (this.costExpression != null) ? this.costExpression.cost(arguments) : this.cost;
			Map<String, String> texts = new HashMap<>();
			this.values.forEach((part, expression) -> {
				String text = expression.text(arguments);
				if (!text.isBlank()) {
					texts.put(part, text);
				}
			});
			return new PolicyUse(this.policy, cost, texts);
		}

	}

}
