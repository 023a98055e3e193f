package io.github.ratelimit.spring.web;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import io.github.ratelimit.LimitStatus;
import jakarta.servlet.http.HttpServletResponse;
import org.greenbytes.http.sfv.ListElement;
import org.greenbytes.http.sfv.OuterList;
import org.greenbytes.http.sfv.Parameters;
import org.greenbytes.http.sfv.StringItem;

/**
 * Writes the headers that tell a client how its limits stand.
 */
final class StatusHeaders implements LimitHeaders {

	/** Structured fields hold integers of at most 15 digits (RFC 9651, section 3.3.1). */
	private static final long LARGEST_INTEGER = 999_999_999_999_999L;

	private final Set<HeaderStyle> styles;

	private final InstantSource clock;

	StatusHeaders(Set<HeaderStyle> styles, InstantSource clock) {
		this.styles = Set.copyOf(styles);
		this.clock = clock;
	}

	/** Time in whole seconds, rounded up: earlier would be too early. */
	static long seconds(Duration time) {
		return time.plusNanos(999_999_999).toSeconds();
	}

	@Override
	public Set<String> names() {
		return this.styles.stream().flatMap((style) -> style.headers().stream()).collect(Collectors.toSet());
	}

	@Override
	public void write(Collection<LimitStatus> statuses, HttpServletResponse response) {
		LimitStatus closest = RequestStatuses.closest(statuses);
		if (this.styles.contains(HeaderStyle.DRAFT)) {
			writeDraft(statuses, response);
		}
		if (this.styles.contains(HeaderStyle.X_RATE_LIMIT)) {
			response.setHeader("X-Rate-Limit-Limit", Long.toString(closest.limit().quota()));
			response.setHeader("X-Rate-Limit-Remaining", Long.toString(closest.remaining()));
		}
		if (this.styles.contains(HeaderStyle.X_RATELIMIT)) {
			response.setHeader("X-RateLimit-Limit", Long.toString(closest.limit().quota()));
			response.setHeader("X-RateLimit-Remaining", Long.toString(closest.remaining()));
			response.setHeader("X-RateLimit-Reset", Long.toString(epochSecond(closest.resetAfter())));
		}
	}

	/** Rounded up as a whole, so that the time has come when the second begins. */
	private long epochSecond(Duration after) {
		Instant time = this.clock.instant().plus(after);
		return time.getEpochSecond() + ((time.getNano() > 0) ? 1 : 0);
	}

	private static void writeDraft(Collection<LimitStatus> statuses, HttpServletResponse response) {
		List<ListElement<? extends Object>> policies = new ArrayList<>();
		List<ListElement<? extends Object>> limits = new ArrayList<>();
		for (LimitStatus status : statuses) {
			String name = RequestStatuses.name(status);
			Map<String, Object> policy = new LinkedHashMap<>();
			policy.put("q", integer(status.limit().quota()));
			if (status.limit().window().toMillis() % 1000 == 0) {
				policy.put("w", integer(status.limit().window().toSeconds()));
			}
			policies.add(StringItem.valueOf(name).withParams(Parameters.valueOf(policy)));
			Map<String, Object> limit = new LinkedHashMap<>();
			limit.put("r", integer(status.remaining()));
			limit.put("t", integer(seconds(status.resetAfter())));
			limits.add(StringItem.valueOf(name).withParams(Parameters.valueOf(limit)));
		}
		response.setHeader("RateLimit-Policy", OuterList.valueOf(policies).serialize());
		response.setHeader("RateLimit", OuterList.valueOf(limits).serialize());
	}

	private static long integer(long number) {
		return Math.min(number, LARGEST_INTEGER);
	}

}
