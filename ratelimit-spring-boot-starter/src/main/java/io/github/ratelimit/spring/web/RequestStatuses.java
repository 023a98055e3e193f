package io.github.ratelimit.spring.web;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
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

	private final Map<Account, Long> paid = new HashMap<>();

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
	void pay(Charge charge) {
		this.paid.merge(Account.of(charge), charge.cost(), Math::max);
	}

	/** What the path of this request has paid to the policy and identifiers already. */
	OptionalLong paid(Charge charge) {
		Long cost = this.paid.get(Account.of(charge));
		return (cost != null) ? OptionalLong.of(cost) : OptionalLong.empty();
	}

	private record Account(String policy, Set<Identifier> identifiers) {

		static Account of(Charge charge) {
			return new Account(charge.policy().name(), Set.copyOf(charge.identifiers()));
		}

	}

}
