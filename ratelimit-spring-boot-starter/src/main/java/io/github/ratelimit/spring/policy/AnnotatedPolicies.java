package io.github.ratelimit.spring.policy;

import java.lang.reflect.Method;
import java.util.Set;

/**
 * What is known of {@code @RateLimited} on the beans of the application.
 * <p>
 * Implementations are safe for use by several threads.
 *
 * @since 0.1
 */
public interface AnnotatedPolicies {

	/**
	 * Returns the methods and types with {@code @RateLimited} that were met so far: those
	 * of all beans that have been created.
	 * @return the methods and types with their policies, in no order
	 */
	Set<AnnotatedPolicy> annotatedPolicies();

	/**
	 * Returns the policies that count the calls of a method.
	 * @param method the method
	 * @param targetClass the class of the object
	 * @return the names of the policies of its annotations, or of those of its class; may
	 * be empty
	 */
	Set<String> policyNames(Method method, Class<?> targetClass);

}
