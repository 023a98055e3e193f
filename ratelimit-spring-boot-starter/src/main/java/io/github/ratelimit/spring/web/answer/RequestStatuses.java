package io.github.ratelimit.spring.web.answer;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.LimitHeaders;
import io.github.ratelimit.spring.decide.Decided;
import jakarta.servlet.http.HttpServletResponse;

/**
 * The limits that were checked for one HTTP request so far. A limit that was checked for
 * several identifiers is written once, for the one that is closest to being denied.
 * <p>
 * Safe for use by several threads: methods of one request may be called in parallel.
 */
public final class RequestStatuses {

	private static final Comparator<LimitStatus> CLOSEST_TO_DENYING = Comparator.comparing(LimitStatus::violated)
		.reversed()
		.thenComparing(LimitStatus::remaining)
		.thenComparing(LimitStatus::resetAfter, Comparator.reverseOrder());

	/** In the order in which they were first checked. */
	private final List<LimitStatus> entries = new ArrayList<>(2);

	/** All policies in this order, if entries are missing for some of their limits. */
	private Set<Policy> policies = Set.of();

	private boolean written = true;

	static String name(LimitStatus status) {
		return name(status.policy(), status.limit());
	}

	/**
	 * Returns the name of a limit in headers: that of its policy, with the window if the
	 * policy has several limits.
	 */
	static String name(Policy policy, Limit limit) {
		return (policy.limits().size() == 1) ? policy.name() : policy.name() + '/' + limit.windowText();
	}

	/** Returns the limit that is closest to denying. */
	static LimitStatus closest(Collection<LimitStatus> statuses) {
		return Collections.min(statuses, CLOSEST_TO_DENYING);
	}

	/** Returns whether no limit was checked. */
	public synchronized boolean isEmpty() {
		return this.entries.isEmpty() && this.policies.isEmpty();
	}

	/** Returns whether all decisions are in the headers. */
	public synchronized boolean isWritten() {
		return this.written;
	}

	/** Adds a decision. It may lack the status of some limits. */
	public synchronized void add(Decided decided) {
		Decision decision = decided.decision();
		this.written = false;
		if (decision.source() == Decision.Source.DENIAL_CACHE) {
			Set<Policy> policies = new LinkedHashSet<>(this.policies);
			this.entries.forEach((entry) -> policies.add(entry.policy()));
			policies.addAll(decided.checked());
			this.policies = policies;
		}
		decision.statuses().forEach(this::add);
	}

	private void add(LimitStatus status) {
		for (int i = 0; i < this.entries.size(); i++) {
			LimitStatus entry = this.entries.get(i);
			if (name(entry).equals(name(status)) && entry.identifier().equals(status.identifier())) {
				this.entries.set(i, status);
				return;
			}
		}
		this.entries.add(status);
	}

	/** Writes all limits, unless there are none or the response is committed. */
	public synchronized void write(LimitHeaders headers, HttpServletResponse response) {
		this.written = true;
		if (isEmpty() || response.isCommitted()) {
			return;
		}
		if (this.policies.isEmpty()) {
			headers.write(ofLimits(), response);
		}
		else {
			headers.write(ofLimits(), this.policies, response);
		}
		ExposedHeaders.expose(headers, response);
	}

	private Collection<LimitStatus> ofLimits() {
		if (this.entries.size() == 1) {
			return List.copyOf(this.entries);
		}
		Map<String, LimitStatus> closest = new LinkedHashMap<>();
		for (LimitStatus entry : this.entries) {
			closest.merge(name(entry), entry, (one, other) -> closest(List.of(one, other)));
		}
		return List.copyOf(closest.values());
	}

}
