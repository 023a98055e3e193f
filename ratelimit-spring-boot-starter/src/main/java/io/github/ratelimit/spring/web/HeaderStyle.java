package io.github.ratelimit.spring.web;

/**
 * Which headers tell the client how its limits stand. Each style is written from the same
 * decision.
 *
 * @since 0.1
 */
public enum HeaderStyle {

	/**
	 * {@code RateLimit-Policy} and {@code RateLimit} as in
	 * draft-ietf-httpapi-ratelimit-headers from revision 8 on: every limit.
	 */
	DRAFT,

	/**
	 * {@code X-Rate-Limit-Limit} and {@code X-Rate-Limit-Remaining}: the limit that is
	 * closest to denying.
	 */
	X_RATE_LIMIT

}
