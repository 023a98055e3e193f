package io.github.ratelimit.spring;

/**
 * Whether a policy denies requests.
 *
 * @since 0.1
 */
public enum Mode {

	/**
	 * Requests beyond the limits are denied.
	 */
	ENFORCE,

	/**
	 * Requests are counted and decided, and what the policy would have denied is
	 * reported, but none is denied: for trying limits out on real traffic.
	 */
	SHADOW

}
