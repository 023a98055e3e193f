package io.github.ratelimit.spring.client;

import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;

import org.greenbytes.http.sfv.IntegerItem;
import org.greenbytes.http.sfv.Parameters;
import org.greenbytes.http.sfv.ParseException;
import org.greenbytes.http.sfv.Parser;

import org.springframework.http.HttpHeaders;

/**
 * How long a response asks its client to wait: by {@code Retry-After}, or else by the
 * limits without quota that {@code X-RateLimit-*}, as GitHub sends them, and
 * {@code RateLimit} of draft-ietf-httpapi-ratelimit-headers name.
 */
final class RequestedWait {

	/** The longest wait, so that a wrong header does not stop calls for ever. */
	static final Duration LONGEST = Duration.ofHours(1);

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
		Instant sent = date(headers, HttpHeaders.DATE).orElse(now);
		return number(headers, HttpHeaders.RETRY_AFTER, sent)
			.or(() -> date(headers, HttpHeaders.RETRY_AFTER).map((end) -> Duration.between(sent, end)))
			.or(() -> Stream.concat(xRateLimit(headers, sent).stream(), rateLimit(headers))
				.max(Comparator.naturalOrder()))
			// Whoever named the end has cut off the fraction of its second.
			.map((wait) -> Math.min(LONGEST.toSeconds(), wait.plusNanos(999_999_999).toSeconds()))
			.filter((seconds) -> seconds > 0)
			.map(Duration::ofSeconds);
	}

	private static Optional<Duration> xRateLimit(HttpHeaders headers, Instant sent) {
		return Optional.ofNullable(headers.getFirst("X-RateLimit-Remaining"))
			.filter((remaining) -> remaining.strip().equals("0"))
			.flatMap((used) -> number(headers, "X-RateLimit-Reset", sent));
	}

	/** Reads a header that is seconds, or the end since the epoch, of any length. */
	private static Optional<Duration> number(HttpHeaders headers, String name, Instant sent) {
		return Optional.ofNullable(headers.getFirst(name))
			.map(String::strip)
			.filter((value) -> value.matches("[0-9]+"))
			.map((digits) -> (long) Double.parseDouble(digits))
			.map((number) -> (number < MOST_SECONDS) ? Duration.ofSeconds(number) : Duration.between(sent,
					(number < MOST_EPOCH_SECONDS) ? Instant.ofEpochSecond(number) : Instant.ofEpochMilli(number)));
	}

	private static Optional<Instant> date(HttpHeaders headers, String name) {
		try {
			return Optional.ofNullable(headers.getFirstZonedDateTime(name)).map(ZonedDateTime::toInstant);
		}
		catch (IllegalArgumentException ex) {
			return Optional.empty();
		}
	}

	/** Returns when each limit without quota has some again. */
	private static Stream<Duration> rateLimit(HttpHeaders headers) {
		try {
			return new Parser(headers.getOrEmpty("RateLimit")).parseList()
				.get()
				.stream()
				.flatMap((limit) -> reset(limit.getParams()));
		}
		catch (ParseException ex) {
			return Stream.empty();
		}
	}

	private static Stream<Duration> reset(Parameters limit) {
		boolean used = limit.get("r") instanceof IntegerItem remaining && remaining.getAsLong() == 0;
		return (used && limit.get("t") instanceof IntegerItem time) ? Stream.of(Duration.ofSeconds(time.getAsLong()))
				: Stream.empty();
	}

}
