package io.github.ratelimit.spring;

import jakarta.servlet.http.HttpServletRequest;

/**
 * Exempts requests from all limits, of paths and annotations alike: they are neither
 * counted nor denied, and have no headers of limits. Every bean of this type is asked,
 * and one of them is enough.
 * <p>
 * An exemption is asked before each decision. Before Spring Security's filters, which is
 * when policies are enforced that do not need the user, no user is known. Implementations
 * are safe for use by several threads.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface RateLimitExemption {

	/**
	 * Returns whether a request is exempt.
	 * @param request the request; its body must not be read
	 * @return whether it is neither counted nor denied
	 */
	boolean exempts(HttpServletRequest request);

}
