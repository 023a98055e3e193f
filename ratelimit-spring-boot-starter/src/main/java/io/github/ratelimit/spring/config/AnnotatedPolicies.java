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
	 * Returns the policies of all beans that have been created so far, by the short name
	 * of the annotated method or type, sorted.
	 */
	Map<String, Set<IdentifiedPolicy>> byPlace();

	/**
	 * Returns the policies of the annotations of a method, or of those of the class of
	 * its object; may be empty.
	 */
	List<IdentifiedPolicy> find(Method method, Class<?> targetClass);

	/** Returns the policies by place; empty if nothing reads annotations. */
	static Map<String, Set<IdentifiedPolicy>> byPlace(ObjectProvider<AnnotatedPolicies> beans) {
		AnnotatedPolicies annotated = beans.getIfAvailable();
		return (annotated != null) ? annotated.byPlace() : Map.of();
	}

}
