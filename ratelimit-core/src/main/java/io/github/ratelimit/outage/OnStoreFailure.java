package io.github.ratelimit.outage;

/**
 * What happens to the requests of a policy while its store fails.
 * <p>
 * A store that is too busy to decide in time does not switch limits off: this process
 * then limits the requests in memory, unless the policy denies them.
 *
 * @since 0.1
 */
public enum OnStoreFailure {

	/**
	 * They are allowed without limits.
	 */
	ALLOW,

	/**
	 * They are denied.
	 */
	DENY,

	/**
	 * Each process limits them in memory: to the whole quota, or to its share where the
	 * number of instances is known. The default.
	 */
	LOCAL

}
