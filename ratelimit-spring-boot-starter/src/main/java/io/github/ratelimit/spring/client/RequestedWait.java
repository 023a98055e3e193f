package io.github.ratelimit.spring.client;

import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.Optional;

import org.greenbytes.http.sfv.IntegerItem;
import org.greenbytes.http.sfv.Parameters;
import org.greenbytes.http.sfv.ParseException;
import org.greenbytes.http.sfv.Parser;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;

/**
 * How long a response asks its client to wait: by {@code Retry-After}, or else by
 * {@code RateLimit} of draft-ietf-httpapi-ratelimit-headers.
 */
final class RequestedWait {

	/** The longest wait, so that a wrong header does not stop calls for ever. */
	static final Duration LONGEST = Duration.ofHours(1);

	private static final String RATE_LIMIT = "RateLimit";

	private RequestedWait() {
	}

	/**
	 * Reads the headers of a response.
	 * @param headers the headers
	 * @param now the present time; that of the header {@code Date} is used instead if
	 * there is one, because clocks differ
	 * @return the time to wait, at most {@link #LONGEST}; empty if the headers ask for
	 * none, or are invalid
	 */
	static Optional<Duration> of(HttpHeaders headers, Instant now) {
		String retryAfter = headers.getFirst(HttpHeaders.RETRY_AFTER);
		return Optional.ofNullable(retryAfter)
			.flatMap((value) -> retryAfter(value.strip(), headers, now))
			.or(() -> rateLimit(headers))
			.filter((wait) -> wait.compareTo(Duration.ZERO) > 0)
			.map((wait) -> (wait.compareTo(LONGEST) > 0) ? LONGEST : wait);
	}

	private static Optional<Duration> retryAfter(String value, HttpHeaders headers, Instant now) {
		if (value.matches("[0-9]+")) {
			return Optional.of(seconds(value));
		}
		Instant end = date(headers, HttpHeaders.RETRY_AFTER);
		Instant sent = date(headers, HttpHeaders.DATE);
		return Optional.ofNullable(end).map((time) -> Duration.between((sent != null) ? sent : now, time));
	}

	/** Numbers of any length are valid. */
	private static Duration seconds(String digits) {
		try {
			return Duration.ofSeconds(Long.parseLong(digits));
		}
		catch (NumberFormatException ex) {
			return LONGEST;
		}
	}

	private static @Nullable Instant date(HttpHeaders headers, String name) {
		try {
			ZonedDateTime date = headers.getFirstZonedDateTime(name);
			return (date != null) ? date.toInstant() : null;
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	private static Optional<Duration> rateLimit(HttpHeaders headers) {
		try {
			return new Parser(headers.getOrEmpty(RATE_LIMIT)).parseList()
				.get()
				.stream()
				.map((limit) -> reset(limit.getParams()))
				.max(Duration::compareTo);
		}
		catch (ParseException ex) {
			return Optional.empty();
		}
	}

	/** Returns when a limit has quota again; zero if it has some, or this is unknown. */
	private static Duration reset(Parameters limit) {
		boolean used = limit.get("r") instanceof IntegerItem remaining && remaining.getAsLong() == 0;
		return (used && limit.get("t") instanceof IntegerItem time) ? Duration.ofSeconds(time.getAsLong())
				: Duration.ZERO;
	}

}
