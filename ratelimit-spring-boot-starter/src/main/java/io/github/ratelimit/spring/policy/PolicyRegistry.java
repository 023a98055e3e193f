package io.github.ratelimit.spring.policy;

/**
 * Receives the policies that a {@link RateLimitPoliciesCustomizer} declares.
 * <p>
 * Used by one thread.
 *
 * @since 0.1
 */
public interface PolicyRegistry {

	/**
	 * Adds a policy, to be given limits.
	 * @param name 1 to 128 printable ASCII characters other than slashes and brackets
	 * @throws IllegalArgumentException if the name is invalid, or a bean has already
	 * declared a policy of that name
	 */
	PolicyRegistration add(String name);

}
