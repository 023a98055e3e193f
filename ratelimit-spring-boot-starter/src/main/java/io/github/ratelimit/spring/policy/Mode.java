package io.github.ratelimit.spring.policy;

/**
 * Whether a policy denies requests.
 *
 * @since 0.1
 */
public enum Mode {

	/** Requests beyond the limits are denied. */
	ENFORCE,

	/**
	 * Requests are counted and decided, but never denied. Requests that the policy would
	 * have denied are reported. Use it to try limits on real traffic.
	 */
	SHADOW

}
