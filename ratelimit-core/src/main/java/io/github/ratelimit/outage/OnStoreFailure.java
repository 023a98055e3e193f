package io.github.ratelimit.outage;

/**
 * What happens to the requests of a policy while its store fails.
 * <p>
 * A store that does not decide in time does not switch limits off before it has been
 * silent for a second or refuses connections: until then this process limits the requests
 * in memory, unless the policy denies them.
 */
public enum OnStoreFailure {

	/** They are allowed without limits. */
	ALLOW,

	/** They are denied. */
	DENY,

	/**
	 * Each process limits them in memory: to the whole quota, or to its share where the
	 * number of instances is known. The default.
	 */
	LOCAL

}
