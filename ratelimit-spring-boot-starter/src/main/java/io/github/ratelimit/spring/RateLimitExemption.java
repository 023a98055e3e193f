package io.github.ratelimit.spring;

import jakarta.servlet.http.HttpServletRequest;

/**
 * Exempts requests from all limits, of paths and annotations alike: they are neither
 * counted nor denied, and have no rate limit headers. A request is exempt if any bean of
 * this type exempts it.
 * <p>
 * An exemption is evaluated before each decision. Policies that do not need the user are
 * enforced before Spring Security's filters, when no user is known. An exception fails
 * the request: that decision counts nothing, and the request is not served.
 * <p>
 * Implementations must be safe for use by several threads.
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
