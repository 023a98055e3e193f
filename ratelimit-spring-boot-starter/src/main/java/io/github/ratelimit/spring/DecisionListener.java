package io.github.ratelimit.spring;

/**
 * Is notified of every decision, once for each of its policies: for metrics, logs, or
 * blocks. Every bean of this type is notified, in order.
 * <p>
 * It is called by the thread of the request before the request proceeds, so it must be
 * quick. Exceptions that it throws are logged, once for each type, and change nothing.
 * Implementations must be safe for use by several threads.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface DecisionListener {

	/**
	 * Called after a decision.
	 * @param decision what was decided for one policy
	 */
	void decided(PolicyDecision decision);

}
