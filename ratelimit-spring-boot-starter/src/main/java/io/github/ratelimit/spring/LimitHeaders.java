package io.github.ratelimit.spring;

import java.util.Collection;
import java.util.Set;

import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import jakarta.servlet.http.HttpServletResponse;

/**
 * Writes the limits of a request into the headers of its response, whether it is allowed
 * or denied. A bean of this type replaces the headers of
 * {@code ratelimit.headers.styles}.
 * <p>
 * Implementations must be safe for use by several threads.
 *
 * @since 0.1
 */
public interface LimitHeaders {

	/**
	 * Returns the names of the headers that may be written; may be empty. Browsers on
	 * other origins may read them if they may read the response.
	 */
	Set<String> names();

	/**
	 * Writes the headers. This is called before a handler runs, and again when it calls a
	 * limited method: headers must be set, not added.
	 * @param statuses all limits that were checked for the request so far, in the order
	 * of the checks; at least one. A limit that was checked for several identifiers is
	 * contained once, for the identifier that is closest to being denied
	 * @param response the response, which is not committed
	 */
	void write(Collection<LimitStatus> statuses, HttpServletResponse response);

	/**
	 * Writes the headers of a request that was denied without calling the store, so that
	 * the status of some limits is unknown. By default, only the others are written.
	 * @param statuses the limits with a known status; empty if there is none, because the
	 * client is blocked
	 * @param policies all policies that were checked, with all of their limits, in the
	 * order of the checks; at least one
	 * @param response the response, which is not committed
	 */
	default void write(Collection<LimitStatus> statuses, Collection<Policy> policies, HttpServletResponse response) {
		if (!statuses.isEmpty()) {
			write(statuses, response);
		}
	}

}
