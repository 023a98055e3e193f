package io.github.ratelimit.spring.web;

import jakarta.servlet.http.HttpServletRequest;

/**
 * Returns what a request costs. A bean of this type replaces the costs of the
 * configuration and of annotations.
 * <p>
 * A negative cost, or an exception, fails the request: it is not served, and not counted
 * any further; what was counted before the login stays counted. A cost of more than a
 * quota is always denied. For a cost of 0, the policy is not enforced: no limit, block,
 * missing identifier or failure of the store denies the request, and the policy is not in
 * the headers; but {@code ratelimit.deny} still applies. Implementations must be safe for
 * use by several threads.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface RequestCost {

	/**
	 * Returns what a request uses of each quota of a policy.
	 * @param request the request; its body must not be read
	 * @param policy name of the policy
	 * @param configured the cost in the configuration or the annotation, 0 or more
	 * @return the cost, 0 or more
	 */
	long cost(HttpServletRequest request, String policy, long configured);

}
