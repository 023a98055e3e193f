package io.github.ratelimit.spring.decide;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs policies that do not count their first request because it has none of their
 * identifiers. This may be intended, or a filter that should set one is missing or runs
 * too late. It is logged once for each policy.
 * <p>
 * Safe for use by several threads.
 */
public final class UncountedRequests {

	private static final Logger logger = LoggerFactory.getLogger(UncountedRequests.class);

	/** Names of the policies that had a request. */
	private final Set<String> known = ConcurrentHashMap.newKeySet();

	/**
	 * Notes a request.
	 * @param policy skips requests without identifiers
	 * @param counted whether the request has one of them
	 */
	public void note(IdentifiedPolicy policy, boolean counted) {
		String name = policy.policy().name();
		if (!this.known.contains(name) && this.known.add(name) && !counted) {
			logger.warn("The policy '{}' does not count requests that have none of its identifiers {}"
					+ " (missing-identifier: skip), and the first request has none. If such requests should be"
					+ " limited, set {} to ip or global. If the request should have had one, set it in a filter before"
					+ " those of the limiter. This is logged once", name, policy.identifiers(),
					"ratelimit.policies." + name + ".missing-identifier");
		}
	}

}
