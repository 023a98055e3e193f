package io.github.ratelimit.spring.decide;

import java.time.Duration;

import io.github.ratelimit.spring.DecisionListener;

/**
 * A listener that is also told how long callers have waited for policies.
 * <p>
 * Implementations must be safe for use by several threads.
 */
public interface WaitListener extends DecisionListener {

	/**
	 * Called after a wait, also one that was not needed.
	 * @param policy the name of a policy that was waited for
	 * @param end how the wait ended
	 * @param time how long it took
	 */
	void waited(String policy, End end, Duration time);

	/** How a wait ends. */
	enum End {

		/** The caller was allowed. */
		ALLOWED,

		/** The time did not suffice, or no time would. */
		DENIED,

		/** The thread was interrupted. */
		INTERRUPTED,

		/** The store failed, and a policy denies requests then. */
		FAILED

	}

}
