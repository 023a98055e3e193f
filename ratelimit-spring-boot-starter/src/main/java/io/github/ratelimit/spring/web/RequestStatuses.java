package io.github.ratelimit.spring.web;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

/**
 * How the limits stand that were checked for one HTTP request so far, by filters and
 * annotations together.
 * <p>
 * A limit that was checked for several identifiers stands here once, for the identifier
 * that is closest to being denied: that is what the client has to know.
 * <p>
 * Safe for use by several threads: methods of one request may be called in parallel.
 */
final class RequestStatuses {

	private static final Comparator<LimitStatus> CLOSEST_TO_DENYING = Comparator.comparing(LimitStatus::violated)
		.reversed()
		.thenComparing(LimitStatus::remaining)
		.thenComparing(LimitStatus::resetAfter, Comparator.reverseOrder());

	/** By the name of the limit, and the identifier. */
	private final Map<String, Map<Identifier, LimitStatus>> statuses = new LinkedHashMap<>();

	/** Returns those of a request; methods of one request may be called in parallel. */
	static RequestStatuses of(HttpServletRequest request) {
		return PerRequest.get(request, RequestStatuses.class, RequestStatuses::new);
	}

	/** Returns whether anything was checked for a request. */
	static boolean exist(HttpServletRequest request) {
		return PerRequest.find(request, RequestStatuses.class) != null;
	}

	/**
	 * Name of a limit on the wire: that of its policy, with the window if it has several.
	 */
	static String name(LimitStatus status) {
		String name = status.policy().name();
		return (status.policy().limits().size() == 1) ? name : name + '/' + status.limit().windowText();
	}

	/** The limit that is closest to denying. */
	static LimitStatus closest(Collection<LimitStatus> statuses) {
		return statuses.stream().min(CLOSEST_TO_DENYING).orElseThrow();
	}

	synchronized void add(Decision decision) {
		for (LimitStatus status : decision.statuses()) {
			this.statuses.computeIfAbsent(name(status), (name) -> new HashMap<>()).put(status.identifier(), status);
		}
	}

	/** Forgets what was added of a policy. */
	synchronized void forget(String policy) {
		this.statuses.values()
			.removeIf((each) -> each.values().stream().anyMatch((status) -> status.policy().name().equals(policy)));
	}

	/**
	 * Writes every limit, in the order in which they were first checked.
	 * @return whether there is any, and the response is still to be sent
	 */
	synchronized boolean write(LimitHeaders headers, HttpServletResponse response) {
		if (this.statuses.isEmpty() || response.isCommitted()) {
			return false;
		}
		headers.write(this.statuses.values().stream().map((each) -> closest(each.values())).toList(), response);
		return true;
	}

}
