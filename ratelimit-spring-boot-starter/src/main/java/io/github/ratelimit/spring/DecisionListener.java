package io.github.ratelimit.spring;

/**
 * Is told of every decision, once for each of its policies: for metrics, logs, or blocks.
 * Every bean of this type is told, in order.
 * <p>
 * Called by the thread of the request before it goes on, so it must be quick; what it
 * throws is logged and changes nothing. Implementations are safe for use by several
 * threads.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface DecisionListener {

	/**
	 * Tells of a decision.
	 * @param decision what was decided for one policy
	 */
	void decided(PolicyDecision decision);

}
