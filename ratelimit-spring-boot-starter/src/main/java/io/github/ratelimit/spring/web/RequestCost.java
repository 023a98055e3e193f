package io.github.ratelimit.spring.web;

import jakarta.servlet.http.HttpServletRequest;

/**
 * Says what a request costs. A bean of this type replaces the costs of the configuration
 * and of annotations.
 * <p>
 * A negative cost, or an exception, fails the request: it is neither counted nor served.
 * A cost of more than a quota is denied, and never will be allowed. A cost of 0 asks
 * nobody: the policy denies it neither by its limits, nor because the store fails, nor
 * for want of an identifier, nor by a block, and headers do not tell of the policy.
 * {@code ratelimit.deny} denies it all the same. Implementations are safe for use by
 * several threads.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface RequestCost {

	/**
	 * Returns what a request uses of each quota of a policy.
	 * @param request the request; its body must not be read
	 * @param policy name of the policy
	 * @param configured the cost that the configuration or the annotation says, 0 or more
	 * @return the cost, 0 or more
	 */
	long cost(HttpServletRequest request, String policy, long configured);

	/**
	 * Returns the costs of the configuration and of annotations.
	 * @return the standard
	 */
	static RequestCost configured() {
		return (request, policy, configured) -> configured;
	}

}
