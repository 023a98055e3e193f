package io.github.ratelimit.outage;

/**
 * What becomes of the requests of a policy while its store fails.
 *
 * @since 0.1
 */
public enum OnStoreFailure {

	/**
	 * They are allowed without limits: an outage of the store is none of the application.
	 */
	ALLOW,

	/**
	 * They are denied: better no service than one without limits.
	 */
	DENY,

	/**
	 * They are limited by each process alone, which holds its share of each quota in
	 * memory.
	 */
	LOCAL

}
