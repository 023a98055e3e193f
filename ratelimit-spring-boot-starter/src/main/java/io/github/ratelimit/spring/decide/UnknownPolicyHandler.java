package io.github.ratelimit.spring.decide;

/**
 * Is told when code that serves a request names a policy that does not exist. A bean of
 * this type replaces the log.
 * <p>
 * Implementations must be safe for use by several threads.
 */
@FunctionalInterface
public interface UnknownPolicyHandler {

	/**
	 * Handles the mistake.
	 * @param unknown names the policy, and those that exist
	 */
	void handle(IllegalArgumentException unknown);

}
