package io.github.ratelimit;

import java.util.List;

/**
 * Reads back what a store remembers of an identifier, as far as the algorithm of the
 * policy remembers it.
 * <p>
 * Implementations are safe for use by several threads.
 *
 * @since 0.1
 */
public interface RequestHistory {

	/**
	 * Returns the requests of an identifier within the longest window, newest first:
	 * "which user used up this address's quota?".
	 * @param policy a policy with the algorithm {@code sliding-log}
	 * @param identifier the identifier
	 * @return the requests; empty if there are none
	 * @throws IllegalArgumentException if the algorithm of the policy keeps no requests
	 * @throws StoreException if the store did not answer
	 */
	List<LogEntry> entries(Policy policy, Identifier identifier);

	/**
	 * Returns the counts of the windows that are kept for an identifier, for a graph: by
	 * limit, and from the newest window to the oldest. Windows in which nothing was used
	 * are left out.
	 * @param policy a policy with the algorithm {@code fixed-window}, which says how many
	 * windows it retains, or {@code first-request-window}
	 * @param identifier the identifier
	 * @return the counts; empty if there are none
	 * @throws IllegalArgumentException if the algorithm of the policy keeps no windows
	 * @throws StoreException if the store did not answer
	 */
	List<WindowCount> series(Policy policy, Identifier identifier);

	/**
	 * Refuses a policy whose algorithm keeps no requests.
	 * @param policy the policy
	 * @throws IllegalArgumentException if the algorithm keeps no requests
	 */
	static void requireEntries(Policy policy) {
		if (!policy.algorithm().keepsEntries()) {
			throw new IllegalArgumentException("Invalid policy (%s): %s keeps no single requests."
				.formatted(policy.name(), policy.algorithm().name()));
		}
	}

	/**
	 * Refuses a policy whose algorithm keeps no windows.
	 * @param policy the policy
	 * @throws IllegalArgumentException if the algorithm keeps no windows
	 */
	static void requireWindows(Policy policy) {
		if (!policy.algorithm().keepsWindows()) {
			throw new IllegalArgumentException(
					"Invalid policy (%s): %s keeps no windows.".formatted(policy.name(), policy.algorithm().name()));
		}
	}

}
