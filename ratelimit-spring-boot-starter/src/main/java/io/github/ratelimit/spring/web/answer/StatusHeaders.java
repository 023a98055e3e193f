package io.github.ratelimit.spring.web.answer;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.LimitHeaders;
import io.github.ratelimit.spring.config.PolicyReader;
import io.github.ratelimit.spring.config.RateLimitProperties;
import io.github.ratelimit.spring.decide.LoggedOnce;
import jakarta.servlet.http.HttpServletResponse;
import org.greenbytes.http.sfv.StringItem;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * Writes limits into the headers of some styles.
 */
public final class StatusHeaders implements LimitHeaders {

	/** Integers in structured fields have at most 15 digits (RFC 9651, section 3.3.1). */
	private static final long LARGEST_INTEGER = 999_999_999_999_999L;

	/**
	 * Characters of both headers of the draft. Tomcat answers with 500 if all headers of
	 * a response exceed 8 KB, and the application writes headers too.
	 */
	private static final int LONGEST_DRAFT = 4096;

	/** The unit of the draft for calls, which end at a time that nobody knows. */
	private static final String CONCURRENT_REQUESTS = "concurrent-requests";

	private static final String STYLES = "ratelimit.headers.styles";

	private static final String NONE = "none";

	private static final Pattern UNIT = Pattern.compile("[a-z][a-z0-9-]{0,31}");

	/** Units that draft-ietf-httpapi-ratelimit-headers-11 registers, by other names. */
	private static final Map<String, String> REGISTERED_UNITS = Map.of("bytes", "content-bytes", "request", "requests");

	private final Set<HeaderStyle> styles;

	private final InstantSource clock;

	private final Map<String, String> units;

	private final LoggedOnce warnings = new LoggedOnce(StatusHeaders.class);

	public StatusHeaders(Set<HeaderStyle> styles, InstantSource clock, Map<String, String> units) {
		this.styles = Set.copyOf(styles);
		this.clock = clock;
		this.units = Map.copyOf(units);
	}

	public static StatusHeaders read(RateLimitProperties properties) {
		return new StatusHeaders(readStyles(properties.headers().styles()), InstantSource.system(),
				readUnits(properties));
	}

	private static Set<HeaderStyle> readStyles(List<String> names) {
		if (names.equals(List.of(NONE))) {
			return Set.of();
		}
		if (names.contains(NONE)) {
			throw new InvalidConfigurationPropertyValueException(STYLES, names, "Must be none, or a list of styles.");
		}
		return Set.copyOf(PolicyReader.readEach(STYLES, names, HeaderStyle::named));
	}

	/** Returns units by the names of policies; policies that count requests have none. */
	private static Map<String, String> readUnits(RateLimitProperties properties) {
		Map<String, String> units = new HashMap<>();
		properties.policies().forEach((policy, settings) -> {
			String name = settings.unit();
			if (name != null && !UNIT.matcher(name).matches()) {
				throw new InvalidConfigurationPropertyValueException(PolicyReader.property(policy, ".unit"), name,
						"Must be a word of at most 32 lower-case letters, digits and hyphens, such as bytes or tokens.");
			}
			String unit = (name != null) ? REGISTERED_UNITS.getOrDefault(name, name) : "requests";
			if (!unit.equals("requests")) {
				units.put(policy, unit);
			}
		});
		return units;
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
		LimitStatus closest = closestLimit(statuses);
		if (this.styles.contains(HeaderStyle.X_RATE_LIMIT)) {
			response.setHeader("X-Rate-Limit-Limit", Long.toString(closest.limit().quota()));
			response.setHeader("X-Rate-Limit-Remaining", Long.toString(closest.remaining()));
		}
		if (this.styles.contains(HeaderStyle.X_RATELIMIT)) {
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

	/** Rounds up, so that the time has passed when the second begins. */
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
		boolean fits = policyField.length() + limitField.length() <= LONGEST_DRAFT;
		response.setHeader("RateLimit-Policy", fits ? policyField.toString() : null);
		response.setHeader("RateLimit", (fits && !limitField.isEmpty()) ? limitField.toString() : null);
		if (!fits) {
			this.warnings.warn(LONGEST_DRAFT,
					"RateLimit-Policy and RateLimit are omitted from responses to requests that are checked by"
							+ " {} limits: they would be longer than {} characters",
					checked.size(), LONGEST_DRAFT);
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
		if (limit.window().getNano() == 0 && !countsCalls(policy) && !policy.algorithm().followsCalendar(limit)) {
			field.append(";w=").append(integer(limit.window().toSeconds()));
		}
	}

	private static StringBuilder append(String name, StringBuilder field) {
		return StringItem.valueOf(name).serializeTo(field.isEmpty() ? field : field.append(", "));
	}

	private static long integer(long number) {
		return Math.min(number, LARGEST_INTEGER);
	}

}
