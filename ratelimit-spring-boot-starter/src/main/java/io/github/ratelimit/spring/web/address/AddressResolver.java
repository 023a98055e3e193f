package io.github.ratelimit.spring.web.address;

import java.util.concurrent.atomic.AtomicBoolean;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import inet.ipaddr.IPAddress;
import io.github.ratelimit.spring.policy.ForwardedHeader;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Identifies a request by the address of its client: an IPv4 address itself, an IPv6
 * address by its network, because a client may use the whole network.
 * <p>
 * All forms of an address identify the same client: brackets, port and zone are removed,
 * octal and hexadecimal numbers are parsed, and an IPv4 address may be mapped into IPv6.
 * Text that is not an address is used as it is; names are not looked up.
 * <p>
 * The address is that of the connection. Forwarded headers, which any client can send,
 * are used only if a trusted proxy has sent them. They are read as the server has
 * received them, without the changes of filters. Without trusted proxies, they are used
 * only if the server or Spring's {@code ForwardedHeaderFilter} is configured to use them.
 * <p>
 * Safe for use by several threads.
 *
 * @since 0.1
 */
public final class AddressResolver {

	private static final Logger logger = LoggerFactory.getLogger(AddressResolver.class);

	private static final int SHORTEST_PREFIX = 32;

	private static final int MOST_RESOLVED = 10_000;

	/** Characters of an IPv6 address with a port and a zone. */
	private static final int LONGEST_RESOLVED = 64;

	private final int ipv6Prefix;

	private final @Nullable TrustedProxies proxies;

	/** Whether to log that forwarded headers are not used. */
	private final AtomicBoolean warning;

	/** Whether it is known that Tomcat reads addresses from headers. */
	private final AtomicBoolean readByTomcat = new AtomicBoolean();

	/** Parsed addresses of connections, because parsing takes a microsecond. */
	private final Cache<String, String> resolved = Caffeine.newBuilder()
		.executor(Runnable::run)
		.maximumSize(MOST_RESOLVED)
		.build();

	/**
	 * Creates a resolver.
	 * @param ipv6Prefix length of the network that identifies an IPv6 address, from 32 to
	 * 128 bits
	 * @param proxies proxies whose forwarded headers are used; {@code null} for none
	 * @param warning whether to log a warning, once, when requests have forwarded headers
	 * though there are no such proxies
	 * @throws IllegalArgumentException if the length is out of range
	 */
	public AddressResolver(int ipv6Prefix, @Nullable TrustedProxies proxies, boolean warning) {
		if (ipv6Prefix < SHORTEST_PREFIX || ipv6Prefix > IPAddress.getBitCount(IPAddress.IPVersion.IPV6)) {
			throw new IllegalArgumentException(
					"Invalid IPv6 prefix (%d): must be from 32 to 128 bits.".formatted(ipv6Prefix));
		}
		this.ipv6Prefix = ipv6Prefix;
		this.proxies = proxies;
		this.warning = new AtomicBoolean(warning && proxies == null);
	}

	/** Returns the whole address of the client; {@code null} if it is unknown. */
	public @Nullable IPAddress address(HttpServletRequest request) {
		if (this.proxies == null) {
			warnIfForwarded(request);
			return parse(remoteAddress(request));
		}
		HttpServletRequest server = ServerRequest.of(request);
		warnOfValve(server);
		IPAddress connection = parse(ServerRequest.connection(server));
		return (connection != null) ? this.proxies.client(connection, server) : null;
	}

	private static @Nullable IPAddress parse(@Nullable String text) {
		return (text != null) ? AddressText.connection(text) : null;
	}

	private void warnOfValve(HttpServletRequest server) {
		if (!this.readByTomcat.get() && ServerRequest.isReadByTomcat(server)
				&& this.readByTomcat.compareAndSet(false, true) && !ServerRequest.isReadByFilter(server)) {
			logger.warn("A RemoteIpValve of Tomcat replaces addresses by those of headers, before"
					+ " ratelimit.ip.trusted-proxies can be looked at, so that clients may choose by which address they"
					+ " are counted: remove it");
		}
	}

	private void warnIfForwarded(HttpServletRequest request) {
		if (this.warning.get() && isForwarded(request) && this.warning.compareAndSet(true, false)) {
			logger.warn("Requests have forwarded headers, which are not used: clients behind a proxy share its"
					+ " address. If the proxy is yours, name it in ratelimit.ip.trusted-proxies");
		}
	}

	private static @Nullable String remoteAddress(HttpServletRequest request) {
		String text = request.getRemoteAddr();
		return (text != null && !text.isBlank()) ? text : ServerRequest.connection(request);
	}

	private static boolean isForwarded(HttpServletRequest request) {
		for (ForwardedHeader header : ForwardedHeader.values()) {
			if (request.getHeader(header.headerName()) != null) {
				return true;
			}
		}
		return false;
	}

	/** Returns the identifier of the client; {@code null} if there is no address. */
	public @Nullable String resolve(HttpServletRequest request) {
		if (this.proxies == null) {
			warnIfForwarded(request);
			String text = remoteAddress(request);
			if (text == null) {
				return null;
			}
			// Longer text may come from a header.
			return (text.length() > LONGEST_RESOLVED) ? text(AddressText.connection(text), text)
					: this.resolved.get(text, (unknown) -> text(AddressText.connection(text), text));
		}
		return text(address(request), ServerRequest.connection(request));
	}

	/**
	 * Returns an address as requests are counted by it.
	 * @param text an address or network that a person has written, so that it has to be
	 * unambiguous
	 * @throws IllegalArgumentException if requests are never counted by it
	 */
	public String counted(String text) {
		try {
			IPAddress block = AddressText.block(text);
			Integer prefix = block.getNetworkPrefixLength();
			if (prefix == null || prefix == (block.isIPv6() ? this.ipv6Prefix : block.getBitCount())) {
				return text(block.getLower().withoutPrefixLength());
			}
		}
		catch (IllegalArgumentException ex) {
			// Refused below, like a network that is not counted.
		}
		throw new IllegalArgumentException(
				"Invalid identifier (ip:%s): must be an address or the /%d network of an IPv6 address, such as ip:203.0.113.7 or ip:2001:db8::/%d. Names are not looked up. To deny other networks, use ratelimit.deny."
					.formatted(text, this.ipv6Prefix, this.ipv6Prefix));
	}

	private @Nullable String text(@Nullable IPAddress address, @Nullable String otherwise) {
		if (address == null) {
			return (otherwise != null && !otherwise.isBlank()) ? otherwise : null;
		}
		return text(address);
	}

	private String text(IPAddress address) {
		boolean network = address.isIPv6() && this.ipv6Prefix < address.getBitCount();
		return (network ? address.toPrefixBlock(this.ipv6Prefix) : address).toCanonicalString();
	}

}
