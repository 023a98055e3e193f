package io.github.ratelimit.spring.config;

/**
 * The header in which proxies send the addresses of their clients.
 *
 * @since 0.1
 */
public enum ForwardedHeader {

	/** {@code X-Forwarded-For}: a list of addresses, that of the client first. */
	X_FORWARDED_FOR("X-Forwarded-For"),

	/** {@code Forwarded} of RFC 7239, whose {@code for} parameter is used. */
	FORWARDED("Forwarded");

	private final String headerName;

	ForwardedHeader(String headerName) {
		this.headerName = headerName;
	}

	/** Returns the name of the header. */
	public String headerName() {
		return this.headerName;
	}

}
