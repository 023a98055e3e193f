package io.github.ratelimit.spring.web;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * A set of headers for the limits of a request. All styles are written from the same
 * decision.
 */
enum HeaderStyle {

	/**
	 * {@code RateLimit-Policy} and {@code RateLimit} as in
	 * draft-ietf-httpapi-ratelimit-headers from revision 8 on: every limit.
	 */
	DRAFT("RateLimit-Policy", "RateLimit"),

	/**
	 * {@code X-Rate-Limit-Limit} and {@code X-Rate-Limit-Remaining}: the limit that is
	 * closest to denying.
	 */
	X_RATE_LIMIT("X-Rate-Limit-Limit", "X-Rate-Limit-Remaining"),

	/**
	 * {@code X-RateLimit-Limit}, {@code X-RateLimit-Remaining} and
	 * {@code X-RateLimit-Reset}, the names that GitHub uses: the limit that is closest to
	 * denying. The reset is the time when more quota arrives, in whole seconds since the
	 * epoch, rounded up, by the clock of the application's machine.
	 */
	X_RATELIMIT("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset");

	private final List<String> headers;

	HeaderStyle(String... headers) {
		this.headers = List.of(headers);
	}

	/**
	 * Returns the style that has a name in the configuration.
	 * @param name the name, such as {@code x-rate-limit}, which is another style than
	 * {@code x-ratelimit}
	 * @return the style
	 * @throws IllegalArgumentException if there is no such style
	 */
	public static HeaderStyle named(String name) {
		return Arrays.stream(values())
			.filter((style) -> style.toString().equals(name))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException(
					"Invalid header style (%s): must be one of %s, or none alone.".formatted(name,
							Arrays.stream(values()).map(HeaderStyle::toString).collect(Collectors.joining(", ")))));
	}

	/** Returns the names of the headers of this style. */
	List<String> headers() {
		return this.headers;
	}

	/**
	 * Returns the name of the style in the configuration.
	 * @return a name such as {@code x-rate-limit}
	 */
	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
