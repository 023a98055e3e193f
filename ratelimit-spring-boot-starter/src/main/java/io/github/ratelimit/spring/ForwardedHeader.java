package io.github.ratelimit.spring;

/**
 * In which header proxies tell the addresses of their clients.
 *
 * @since 0.1
 */
public enum ForwardedHeader {

	/**
	 * {@code X-Forwarded-For}: addresses, the client's first.
	 */
	X_FORWARDED_FOR("X-Forwarded-For"),

	/**
	 * {@code Forwarded} of RFC 7239, of which {@code for} counts.
	 */
	FORWARDED("Forwarded");

	private final String headerName;

	ForwardedHeader(String headerName) {
		this.headerName = headerName;
	}

	/** Name of the header. */
	public String headerName() {
		return this.headerName;
	}

}
