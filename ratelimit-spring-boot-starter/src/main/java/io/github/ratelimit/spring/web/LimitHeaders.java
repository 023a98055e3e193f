package io.github.ratelimit.spring.web;

import java.time.InstantSource;
import java.util.Collection;
import java.util.Map;
import java.util.Set;

import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import jakarta.servlet.http.HttpServletResponse;

/**
 * Writes the headers that tell a client how its limits stand, on allowed and denied
 * responses alike. A bean of this type replaces the headers of
 * {@code ratelimit.headers.styles}.
 * <p>
 * Implementations are safe for use by several threads.
 *
 * @since 0.1
 */
public interface LimitHeaders {

	/**
	 * Returns the names of the headers that may be written. Browsers on other origins are
	 * allowed to read them.
	 * @return the names; may be empty
	 */
	Set<String> names();

	/**
	 * Writes the headers. Called before a handler runs, and again when one of its methods
	 * is limited: headers must be set, not added.
	 * @param statuses every limit that was checked for the request so far, in the order
	 * of the checks; at least one. A limit that was checked for several identifiers
	 * stands there once, for the one that is closest to being denied
	 * @param response the response, which is not committed
	 */
	void write(Collection<LimitStatus> statuses, HttpServletResponse response);

	/**
	 * Writes the headers of a request that was denied without asking the store, so that
	 * it is known of some limits only how they stand. Writes what is known unless
	 * implemented otherwise.
	 * @param statuses the limits of which it is known how they stand; at least one
	 * @param policies all policies that were checked, with all of their limits
	 * @param response the response, which is not committed
	 */
	default void write(Collection<LimitStatus> statuses, Collection<Policy> policies, HttpServletResponse response) {
		write(statuses, response);
	}

	/**
	 * Returns what writes the headers of some styles.
	 * @param styles the styles; may be empty
	 * @param clock the clock for times of day
	 * @return a new writer
	 */
	static LimitHeaders of(Set<HeaderStyle> styles, InstantSource clock) {
		return of(styles, clock, Map.of());
	}

	/**
	 * Returns what writes the headers of some styles.
	 * @param styles the styles; may be empty
	 * @param clock the clock for times of day
	 * @param units what quotas count by the names of their policies, such as
	 * {@code content-bytes}; requests if a policy has none
	 * @return a new writer
	 */
	static LimitHeaders of(Set<HeaderStyle> styles, InstantSource clock, Map<String, String> units) {
		return new StatusHeaders(styles, clock, units);
	}

}
