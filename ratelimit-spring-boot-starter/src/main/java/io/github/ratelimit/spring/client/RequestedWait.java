package io.github.ratelimit.spring.client;

import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.Optional;
import java.util.stream.Stream;

import org.greenbytes.http.sfv.IntegerItem;
import org.greenbytes.http.sfv.Parameters;
import org.greenbytes.http.sfv.ParseException;
import org.greenbytes.http.sfv.Parser;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;

/**
 * How long a response asks its client to wait: by {@code Retry-After}, or else by the
 * limits without quota that {@code X-RateLimit-*}, as GitHub sends them, and
 * {@code RateLimit} of draft-ietf-httpapi-ratelimit-headers name.
 */
final class RequestedWait {

	/** The longest wait, so that a wrong header does not stop calls for ever. */
	static final Duration LONGEST = Duration.ofHours(1);

	private static final String RATE_LIMIT = "RateLimit";

	/** Larger numbers are times since the epoch: nobody waits for 31 years. */
	private static final long MOST_SECONDS = 1_000_000_000;

	/** Larger numbers are milliseconds since the epoch, as of the year 1973. */
	private static final long MOST_EPOCH_SECONDS = 100_000_000_000L;

	private RequestedWait() {
	}

	/**
	 * Reads the headers of a response.
	 * @param headers the headers
	 * @param now the present time; that of the header {@code Date} is used instead if
	 * there is one, because clocks differ
	 * @return the time to wait, in whole seconds, at most {@link #LONGEST}; empty if the
	 * headers ask for none, or are invalid
	 */
	static Optional<Duration> of(HttpHeaders headers, Instant now) {
		Instant date = date(headers, HttpHeaders.DATE);
		Instant sent = (date != null) ? date : now;
		return retryAfter(headers, sent)
			.or(() -> Stream.of(xRateLimit(headers, sent), rateLimit(headers))
				.flatMap(Optional::stream)
				.max(Duration::compareTo))
			.filter((wait) -> wait.compareTo(Duration.ZERO) > 0)
			.map((wait) -> (wait.compareTo(LONGEST) > 0) ? LONGEST : roundUp(wait));
	}

	/** Whoever named the end has cut off the fraction of its second. */
	private static Duration roundUp(Duration wait) {
		return Duration.ofSeconds(wait.plusNanos(999_999_999).toSeconds());
	}

	private static Optional<Duration> retryAfter(HttpHeaders headers, Instant sent) {
		return number(headers, HttpHeaders.RETRY_AFTER, sent)
			.or(() -> Optional.ofNullable(date(headers, HttpHeaders.RETRY_AFTER))
				.map((end) -> Duration.between(sent, end)));
	}

	private static Optional<Duration> xRateLimit(HttpHeaders headers, Instant sent) {
		String remaining = headers.getFirst("X-RateLimit-Remaining");
		return (remaining != null && remaining.strip().equals("0")) ? number(headers, "X-RateLimit-Reset", sent)
				: Optional.empty();
	}

	/** Reads a header that is seconds, or the end since the epoch. */
	private static Optional<Duration> number(HttpHeaders headers, String name, Instant sent) {
		return Optional.ofNullable(headers.getFirst(name))
			.map(String::strip)
			.filter((value) -> value.matches("[0-9]+"))
			.map((digits) -> duration(digits, sent));
	}

	/** Numbers of any length are valid. */
	private static Duration duration(String digits, Instant sent) {
		try {
			long number = Long.parseLong(digits);
			if (number < MOST_SECONDS) {
				return Duration.ofSeconds(number);
			}
			return Duration.between(sent,
					(number < MOST_EPOCH_SECONDS) ? Instant.ofEpochSecond(number) : Instant.ofEpochMilli(number));
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
