package io.github.ratelimit.spring;

/**
 * The outcome of a decision for one of its policies.
 *
 * @since 0.1
 */
public enum Outcome {

	/**
	 * The request was allowed and counted.
	 */
	ALLOWED,

	/**
	 * A limit of the policy denied the request.
	 */
	DENIED,

	/**
	 * The policy would have allowed the request, but another policy denied it.
	 */
	DENIED_BY_OTHER,

	/**
	 * An identifier of the request is blocked.
	 */
	BLOCKED,

	/**
	 * The policy is in shadow mode, and one of its limits would have denied the request.
	 */
	SHADOW_DENIED,

	/**
	 * The store failed, and the request was allowed without limits.
	 */
	STORE_FAILED_ALLOWED,

	/**
	 * The store failed, and the request was denied because of that.
	 */
	STORE_FAILED_DENIED

}
