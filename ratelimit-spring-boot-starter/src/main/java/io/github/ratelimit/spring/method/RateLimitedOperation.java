package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.IdentifierParts;
import io.github.ratelimit.spring.policy.PolicyUse;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * What the {@code @RateLimited} annotations say of a method, all together.
 *
 * @param method the method, as it is in the class of the object
 * @param uses what a call uses, one for each annotation
 * @param fallback answers denied calls
 * @param place names the place of the annotations in messages
 * @param onMethod whether the annotations are the method's own, and not its type's
 */
record RateLimitedOperation(Method method, List<Use> uses, @Nullable Fallback fallback, String place,
		boolean onMethod) {

	/** Returns what a call with these arguments uses of each policy. */
	List<PolicyUse> uses(@Nullable Object[] arguments) {
		return this.uses.stream().map((use) -> use.by(arguments)).toList();
	}

	/**
	 * Returns the identifiers, or parts of them, that only the thread of a caller knows:
	 * all but {@code global} and expressions over the arguments.
	 */
	Set<String> identifiersOfThread() {
		Set<String> names = new TreeSet<>();
		for (Use use : this.uses) {
			for (String identifier : use.policy().identifiers()) {
				IdentifierParts.of(identifier)
					.stream()
					.filter((part) -> !IdentifierParts.isExpression(part) && !part.equals(Identifier.GLOBAL.type()))
					.forEach(names::add);
			}
		}
		return names;
	}

	/** Names the place of the annotations for people who know the application. */
	String shortPlace() {
		String type = this.method.getDeclaringClass().getSimpleName();
		return this.onMethod ? type + '.' + this.method.getName() : ClassUtils.getShortName(this.place);
	}

	/** Names the method in messages, also if the annotations are its type's. */
	String methodPlace() {
		return this.onMethod ? this.place : this.method.toGenericString();
	}

	/**
	 * What one annotation says.
	 *
	 * @param policy the policy to enforce
	 * @param cost what a call uses of each quota, unless there is an expression for it
	 * @param costExpression yields the cost
	 * @param values yield the values of identifiers, by their text
	 */
	record Use(IdentifiedPolicy policy, long cost, @Nullable MethodExpression costExpression,
			Map<String, MethodExpression> values) {

		private PolicyUse by(@Nullable Object[] arguments) {
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
