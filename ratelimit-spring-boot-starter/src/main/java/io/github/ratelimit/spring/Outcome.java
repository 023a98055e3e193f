package io.github.ratelimit.spring;

/**
 * What a decision came to for one of its policies.
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
	 * A limit of the policy would have denied the request, were the policy not in shadow
	 * mode.
	 */
	SHADOW_DENIED,

	/**
	 * The store failed, and the request was allowed without limits.
	 */
	STORE_FAILED_ALLOWED,

	/**
	 * The store failed, and the request was denied therefore.
	 */
	STORE_FAILED_DENIED

}
