package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.spring.decide.PolicyUse;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * A method with all of its {@code @RateLimited} annotations, or those of its type.
 *
 * @param method as declared in the class of the object
 * @param fallback called for denied calls
 * @param result how a call is decided, and refused
 * @param place describes the annotated element in messages
 * @param onMethod whether the annotations are on the method rather than on its type
 */
record LimitedMethod(Method method, List<ReadAnnotation> annotations, @Nullable Fallback fallback, ResultType result,
		String place, boolean onMethod) {

	/** Returns what a call with these arguments uses of each policy. */
	List<PolicyUse> uses(@Nullable Object[] arguments) {
		return this.annotations.stream().map((annotation) -> annotation.use(arguments)).toList();
	}

	/** Returns a short description of the annotated element. */
	String shortPlace() {
		return this.onMethod ? this.method.getDeclaringClass().getSimpleName() + '.' + this.method.getName()
				: ClassUtils.getShortName(this.place);
	}

	List<IdentifiedPolicy> policies() {
		return this.annotations.stream().map(ReadAnnotation::policy).toList();
	}

	/**
	 * An annotation, ready to be evaluated.
	 *
	 * @param cost the cost of a call, unless there is an expression for it
	 * @param values expressions for the values of identifiers, by their text
	 */
	record ReadAnnotation(IdentifiedPolicy policy, long cost, @Nullable MethodExpression costExpression,
			Map<String, MethodExpression> values) {

		private PolicyUse use(@Nullable Object[] arguments) {
			long cost = (this.costExpression != null) ? this.costExpression.cost(arguments) : this.cost;
			Map<String, String> texts = new HashMap<>();
			this.values.forEach((part, expression) -> texts.put(part, expression.text(arguments)));
			return new PolicyUse(this.policy, cost, texts);
		}

	}

}
