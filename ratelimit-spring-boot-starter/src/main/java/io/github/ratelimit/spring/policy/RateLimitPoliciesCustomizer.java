package io.github.ratelimit.spring.policy;

/**
 * Declares policies in code, beside those of {@code ratelimit.policies}. Declare beans of
 * this type:
 *
 * <pre>{@code
 * &#64;Bean
 * RateLimitPoliciesCustomizer limits() {
 *     return (policies) -> policies.add("search")
 *         .paths("/api/**")
 *         .limits("10/s", "120/m")
 *         .identifiers("ip", "header:X-User");
 * }
 * }</pre>
 * <p>
 * A declared policy is a default of the environment: everything that a file, an
 * environment variable or an argument says below {@code ratelimit.policies.search}
 * replaces what the bean says of that property. A list is replaced as a whole; plans are
 * added. What is replaced is logged at startup.
 * <p>
 * It is called once, when the application starts. It must not depend on beans of the
 * limiter, which need the policies.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface RateLimitPoliciesCustomizer {

	/**
	 * Adds policies.
	 * @param policies receives the policies
	 */
	void customize(PolicyRegistry policies);

}
