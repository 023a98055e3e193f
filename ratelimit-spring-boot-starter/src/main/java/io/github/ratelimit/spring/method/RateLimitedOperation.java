package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.util.List;

import io.github.ratelimit.spring.policy.PolicyUse;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * What the {@code @RateLimited} annotations say of a method, all together.
 *
 * @param method the method, as it is in the class of the object
 * @param uses what a call uses of each policy
 * @param fallback answers denied calls
 * @param place names the place of the annotations in messages
 * @param onMethod whether the annotations are the method's own, and not its type's
 */
record RateLimitedOperation(Method method, List<RateLimitedUse> uses, @Nullable Fallback fallback, String place,
		boolean onMethod) {

	List<PolicyUse> uses(@Nullable Object[] arguments) {
		return this.uses.stream().map((use) -> use.by(arguments)).toList();
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

}
