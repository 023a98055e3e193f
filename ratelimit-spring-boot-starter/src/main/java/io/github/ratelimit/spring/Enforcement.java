package io.github.ratelimit.spring;

import io.github.ratelimit.outage.OnStoreFailure;

/**
 * How a policy is enforced, besides its limits.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param mode whether requests are denied
 * @param onStoreFailure what becomes of requests while the store fails; those of a policy
 * in shadow mode are allowed in any case
 * @since 0.1
 */
public record Enforcement(Mode mode, OnStoreFailure onStoreFailure) {

	/**
	 * Requests beyond the limits are denied, and allowed while the store fails.
	 */
	public static final Enforcement DEFAULT = new Enforcement(Mode.ENFORCE, OnStoreFailure.ALLOW);

}
