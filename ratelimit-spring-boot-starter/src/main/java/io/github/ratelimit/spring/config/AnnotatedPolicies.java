package io.github.ratelimit.spring.config;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.ratelimit.spring.policy.IdentifiedPolicy;

import org.springframework.beans.factory.ObjectProvider;

/**
 * The policies that {@code @RateLimited} annotations name or declare, with the
 * identifiers of the annotations.
 * <p>
 * Implementations must be safe for use by several threads.
 *
 * @since 0.1
 */
public interface AnnotatedPolicies {

	/**
	 * Returns the policies of all beans that have been created so far.
	 * @return the policies of each annotated method or type, by its short name, sorted
	 */
	Map<String, Set<IdentifiedPolicy>> byPlace();

	/**
	 * Returns the policies that count the calls of a method.
	 * @param method the method
	 * @param targetClass the class of the object
	 * @return the policies of its annotations, or of those of its class; may be empty
	 */
	List<IdentifiedPolicy> find(Method method, Class<?> targetClass);

	/**
	 * Returns the policies of all beans that have been created so far.
	 * @param beans the annotations, if there are any
	 * @return the policies of each annotated method or type; empty if there is none
	 */
	static Map<String, Set<IdentifiedPolicy>> byPlace(ObjectProvider<AnnotatedPolicies> beans) {
		AnnotatedPolicies annotated = beans.getIfAvailable();
		return (annotated != null) ? annotated.byPlace() : Map.of();
	}

}
