package io.github.ratelimit.spring.web.answer;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * A set of headers for the limits of a request.
 */
enum HeaderStyle {

	/** Every limit, as in draft-ietf-httpapi-ratelimit-headers from revision 8 on. */
	DRAFT("RateLimit-Policy", "RateLimit"),

	/** The limit that is closest to denying. */
	X_RATE_LIMIT("X-Rate-Limit-Limit", "X-Rate-Limit-Remaining"),

	/**
	 * The same by the names that GitHub uses. The reset is the time when more quota
	 * arrives, in whole seconds since the epoch, by the clock of this machine.
	 */
	X_RATELIMIT("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset");

	private final List<String> headers;

	HeaderStyle(String... headers) {
		this.headers = List.of(headers);
	}

	/**
	 * Returns the style of a name. Spring Boot would ignore hyphens, so that
	 * {@code x-rate-limit} would be the same as {@code x-ratelimit}.
	 */
	static HeaderStyle named(String name) {
		return Arrays.stream(values())
			.filter((style) -> style.toString().equals(name))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException(
					"Invalid header style (%s): must be one of draft, x-rate-limit, x-ratelimit, or none alone."
						.formatted(name)));
	}

	List<String> headers() {
		return this.headers;
	}

	/** Returns the name in the configuration. */
	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
