package io.github.ratelimit.spring.policy;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;

/**
 * The {@code @RateLimited} annotations on the beans of the application.
 * <p>
 * Implementations must be safe for use by several threads.
 *
 * @since 0.1
 */
public interface AnnotatedPolicies {

	/**
	 * Returns the methods and types with {@code @RateLimited} of all beans that have been
	 * created so far.
	 * @return the methods and types with their policies, in no particular order
	 */
	Set<AnnotatedPolicy> annotatedPolicies();

	/**
	 * Returns the policies that count the calls of a method.
	 * @param method the method
	 * @param targetClass the class of the object
	 * @return the policies of its annotations, or of those of its class; may be empty
	 */
	List<AnnotatedPolicy> find(Method method, Class<?> targetClass);

}
