package io.github.ratelimit.spring.web;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import jakarta.servlet.http.HttpServletResponse;
import org.greenbytes.http.sfv.StringItem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes limits into the headers of some styles.
 */
final class StatusHeaders implements LimitHeaders {

	private static final Logger logger = LoggerFactory.getLogger(StatusHeaders.class);

	/** Integers in structured fields have at most 15 digits (RFC 9651, section 3.3.1). */
	private static final long LARGEST_INTEGER = 999_999_999_999_999L;

	/**
	 * Characters of both headers of the draft. Tomcat answers with 500 if all headers of
	 * a response exceed 8 KB, and the application writes headers too.
	 */
	private static final int LONGEST_DRAFT = 4096;

	/** The unit of the draft for calls, which end at a time that nobody knows. */
	private static final String CONCURRENT_REQUESTS = "concurrent-requests";

	private final Set<HeaderStyle> styles;

	private final InstantSource clock;

	private final Map<String, String> units;

	private final AtomicBoolean warned = new AtomicBoolean();

	StatusHeaders(Set<HeaderStyle> styles, InstantSource clock, Map<String, String> units) {
		this.styles = Set.copyOf(styles);
		this.clock = clock;
		this.units = Map.copyOf(units);
	}

	/** Returns a time in whole seconds, rounded up, because less would be too early. */
	static long seconds(Duration time) {
		return time.plusNanos(999_999_999).toSeconds();
	}

	@Override
	public Set<String> names() {
		return this.styles.stream().flatMap((style) -> style.headers().stream()).collect(Collectors.toSet());
	}

	@Override
	public void write(Collection<LimitStatus> statuses, HttpServletResponse response) {
		write(statuses, List.of(), response);
	}

	@Override
	public void write(Collection<LimitStatus> statuses, Collection<Policy> policies, HttpServletResponse response) {
		if (this.styles.contains(HeaderStyle.DRAFT)) {
			writeDraft(statuses, policies, response);
		}
		if (statuses.isEmpty()) {
			return;
		}
		if (this.styles.contains(HeaderStyle.X_RATE_LIMIT)) {
			LimitStatus closest = closestLimit(statuses);
			response.setHeader("X-Rate-Limit-Limit", Long.toString(closest.limit().quota()));
			response.setHeader("X-Rate-Limit-Remaining", Long.toString(closest.remaining()));
		}
		if (this.styles.contains(HeaderStyle.X_RATELIMIT)) {
			LimitStatus closest = closestLimit(statuses);
			response.setHeader("X-RateLimit-Limit", Long.toString(closest.limit().quota()));
			response.setHeader("X-RateLimit-Remaining", Long.toString(closest.remaining()));
			response.setHeader("X-RateLimit-Reset",
					countsCalls(closest.policy()) ? null : Long.toString(epochSecond(closest.resetAfter())));
		}
	}

	/** Headers with one limit have that of calls only if there is no other. */
	private static LimitStatus closestLimit(Collection<LimitStatus> statuses) {
		if (statuses.size() == 1) {
			return statuses.iterator().next();
		}
		List<LimitStatus> limits = statuses.stream().filter((status) -> !countsCalls(status.policy())).toList();
		return RequestStatuses.closest(limits.isEmpty() ? statuses : limits);
	}

	private static boolean countsCalls(Policy policy) {
		return policy.algorithm().countsCalls();
	}

	/** Rounds the sum up, so that the time has passed when the second begins. */
	private long epochSecond(Duration after) {
		Instant time = this.clock.instant().plus(after);
		return time.getEpochSecond() + ((time.getNano() > 0) ? 1 : 0);
	}

	/** Avoids the library's maps of parameters, which take longer than a decision. */
	private void writeDraft(Collection<LimitStatus> statuses, Collection<Policy> policies,
			HttpServletResponse response) {
		Set<String> checked = new HashSet<>();
		StringBuilder policyField = new StringBuilder();
		StringBuilder limitField = new StringBuilder();
		for (Policy policy : policies) {
			for (Limit limit : policy.limits()) {
				appendPolicy(RequestStatuses.name(policy, limit), policy, limit, checked, policyField);
			}
		}
		for (LimitStatus status : statuses) {
			String name = RequestStatuses.name(status);
			appendPolicy(name, status.policy(), status.limit(), checked, policyField);
			append(name, limitField).append(";r=").append(integer(status.remaining()));
			if (status.limit().quota() > 0 && !countsCalls(status.policy())) {
				limitField.append(";t=").append(integer(seconds(status.resetAfter())));
			}
		}
		if (policyField.length() + limitField.length() <= LONGEST_DRAFT) {
			response.setHeader("RateLimit-Policy", policyField.toString());
			response.setHeader("RateLimit", limitField.isEmpty() ? null : limitField.toString());
		}
		else {
			omitDraft(checked.size(), response);
		}
	}

	private void appendPolicy(String name, Policy policy, Limit limit, Set<String> checked, StringBuilder field) {
		if (!checked.add(name)) {
			return;
		}
		append(name, field).append(";q=").append(integer(limit.quota()));
		String unit = countsCalls(policy) ? CONCURRENT_REQUESTS : this.units.get(policy.name());
		if (unit != null) {
			StringItem.valueOf(unit).serializeTo(field.append(";qu="));
		}
		if (limit.window().getNano() == 0 && !countsCalls(policy)) {
			field.append(";w=").append(integer(limit.window().toSeconds()));
		}
	}

	private static StringBuilder append(String name, StringBuilder field) {
		return StringItem.valueOf(name).serializeTo(field.isEmpty() ? field : field.append(", "));
	}

	/** Removes headers that were written when fewer limits had been checked. */
	private void omitDraft(int limits, HttpServletResponse response) {
		response.setHeader("RateLimit-Policy", null);
		response.setHeader("RateLimit", null);
		if (this.warned.compareAndSet(false, true)) {
			logger.warn("RateLimit-Policy and RateLimit are omitted from responses to requests that are checked by"
					+ " {} limits: they would be longer than {} characters", limits, LONGEST_DRAFT);
		}
	}

	private static long integer(long number) {
		return Math.min(number, LARGEST_INTEGER);
	}

}
