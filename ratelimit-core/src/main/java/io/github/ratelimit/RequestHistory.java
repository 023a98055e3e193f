package io.github.ratelimit;

import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Reads back the past requests of an identifier. What is kept depends on the algorithm of
 * the policy. Implementations must be safe for use by several threads.
 */
public interface RequestHistory {

	/** Largest number of requests that can be read at once. */
	int MAX_ENTRIES = 1000;

	/**
	 * Returns the last requests of an identifier within the longest window, newest first:
	 * "which user used up this address's quota?". At most {@link #MAX_ENTRIES}.
	 * @throws IllegalArgumentException if the algorithm of the policy does not keep
	 * requests
	 * @throws StoreException if the store did not answer
	 */
	default List<LogEntry> entries(Policy policy, Identifier identifier) {
		return entries(policy, identifier, MAX_ENTRIES, null);
	}

	/**
	 * Returns a page of the requests of an identifier within the longest window, newest
	 * first. For the next page, request those before the time of the last one, until none
	 * is returned. Requests of the same microsecond are on the same page. If they do not
	 * fit on one page, the rest of them cannot be read.
	 * @param most the maximum number of requests to return, from 1 to
	 * {@link #MAX_ENTRIES}
	 * @param before only requests made before this time are returned; {@code null} for
	 * the newest
	 * @throws IllegalArgumentException if the algorithm of the policy does not keep
	 * requests, or the number is out of range
	 * @throws StoreException if the store did not answer
	 */
	List<LogEntry> entries(Policy policy, Identifier identifier, int most, @Nullable Instant before);

	/**
	 * Returns the counts of the windows that are kept for an identifier: by limit, and
	 * from the newest window to the oldest. Windows in which nothing was used are left
	 * out.
	 * @param policy a policy with the algorithm {@code fixed-window}, whose
	 * {@code retain} is the number of windows, or {@code first-request-window}
	 * @throws IllegalArgumentException if the algorithm of the policy does not keep
	 * windows
	 * @throws StoreException if the store did not answer
	 */
	List<WindowCount> series(Policy policy, Identifier identifier);

	/**
	 * Refuses a policy whose algorithm does not keep requests, and pages out of range.
	 * @throws IllegalArgumentException if it is so
	 */
	static void requireEntries(Policy policy, int most) {
		if (!policy.algorithm().keepsEntries()) {
			throw new IllegalArgumentException("Invalid policy (%s): %s does not keep requests."
				.formatted(policy.name(), policy.algorithm().name()));
		}
		if (most < 1 || most > MAX_ENTRIES) {
			throw new IllegalArgumentException(
					"Invalid number of requests (%s): must be from 1 to %s.".formatted(most, MAX_ENTRIES));
		}
	}

	/**
	 * Refuses a policy whose algorithm does not keep windows.
	 * @throws IllegalArgumentException if it does not
	 */
	static void requireWindows(Policy policy) {
		if (!policy.algorithm().keepsWindows()) {
			throw new IllegalArgumentException("Invalid policy (%s): %s does not keep windows.".formatted(policy.name(),
					policy.algorithm().name()));
		}
	}

}
