package io.github.ratelimit.spring.web;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

import io.github.ratelimit.Decision;
import io.github.ratelimit.LimitStatus;
import jakarta.servlet.http.HttpServletRequest;

/**
 * How the limits stand that were checked for one HTTP request so far, by filters and
 * annotations together.
 * <p>
 * A limit that was checked for several identifiers stands here once, for the identifier
 * that is closest to being denied: that is what the client has to know.
 */
final class RequestStatuses {

	private static final String ATTRIBUTE = RequestStatuses.class.getName();

	private static final Comparator<LimitStatus> CLOSEST_TO_DENYING = Comparator.comparing(LimitStatus::violated)
		.reversed()
		.thenComparing(LimitStatus::remaining)
		.thenComparing(LimitStatus::resetAfter, Comparator.reverseOrder());

	private final Map<String, LimitStatus> statuses = new LinkedHashMap<>();

	private final Set<String> paid = new HashSet<>();

	static RequestStatuses of(HttpServletRequest request) {
		if (request.getAttribute(ATTRIBUTE) instanceof RequestStatuses statuses) {
			return statuses;
		}
		RequestStatuses statuses = new RequestStatuses();
		request.setAttribute(ATTRIBUTE, statuses);
		return statuses;
	}

	/**
	 * Name of a limit on the wire: that of its policy, with the window if it has several.
	 */
	static String name(LimitStatus status) {
		String name = status.policy().name();
		return (status.policy().limits().size() == 1) ? name : name + '/' + status.limit().windowText();
	}

	void add(Decision decision) {
		decision.statuses().stream().map(RequestStatuses::name).forEach(this.statuses::remove);
		for (LimitStatus status : decision.statuses()) {
			this.statuses.merge(name(status), status,
					(one, other) -> (CLOSEST_TO_DENYING.compare(other, one) < 0) ? other : one);
		}
	}

	boolean isEmpty() {
		return this.statuses.isEmpty();
	}

	/** Every limit, in the order in which they were first checked. */
	Collection<LimitStatus> all() {
		return this.statuses.values();
	}

	/** The limit that is closest to denying. */
	LimitStatus closest() {
		return this.statuses.values().stream().min(CLOSEST_TO_DENYING).orElseThrow();
	}

	/** Notes that a path policy has been enforced on this request, whatever comes. */
	void pay(String policy) {
		this.paid.add(policy);
	}

	boolean isPaid(String policy) {
		return this.paid.contains(policy);
	}

}
