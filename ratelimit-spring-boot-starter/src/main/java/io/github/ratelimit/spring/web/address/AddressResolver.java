package io.github.ratelimit.spring.web.address;

import java.util.Arrays;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import inet.ipaddr.IPAddress;
import io.github.ratelimit.spring.config.ForwardedHeader;
import io.github.ratelimit.spring.decide.LoggedOnce;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Identifies a request by the address of its client, in one form: an IPv4 address itself,
 * an IPv6 address by its network, all of which a client may use. Text that is not an
 * address is used as it is; names are not looked up.
 * <p>
 * The address is that of the connection. Forwarded headers, which any client can send,
 * are used only if a trusted proxy has sent them, as the server has received them.
 * Without trusted proxies, the server or Spring's {@code ForwardedHeaderFilter} may use
 * them.
 * <p>
 * Safe for use by several threads.
 */
public final class AddressResolver {

	private static final String UNKNOWN_PROXY = "Requests bring forwarded headers from an address that is no trusted"
			+ " proxy. Any client can choose the address that it is counted by, if the server or a filter reads these"
			+ " headers; if not, clients behind a proxy share its address. Name your proxies in"
			+ " ratelimit.ip.trusted-proxies (environment variable RATELIMIT_IP_TRUSTEDPROXIES)";

	private static final String READ_BY_TOMCAT = "A RemoteIpValve or RemoteIpFilter of Tomcat reads forwarded headers"
			+ " beside ratelimit.ip.trusted-proxies. A valve replaces addresses before these proxies can be looked at,"
			+ " so that clients may choose by which address they are counted: remove it";

	private static final int SHORTEST_PREFIX = 32;

	private static final int MOST_RESOLVED = 10_000;

	/** Characters of an IPv6 address with a port and a zone. */
	private static final int LONGEST_RESOLVED = 64;

	private final int ipv6Prefix;

	private final @Nullable TrustedProxies proxies;

	private final LoggedOnce warnings = new LoggedOnce(AddressResolver.class);

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
	 * @throws IllegalArgumentException if the length is out of range
	 */
	public AddressResolver(int ipv6Prefix, @Nullable TrustedProxies proxies) {
		if (ipv6Prefix < SHORTEST_PREFIX || ipv6Prefix > IPAddress.getBitCount(IPAddress.IPVersion.IPV6)) {
			throw new IllegalArgumentException(
					"Invalid IPv6 prefix (%s): must be from 32 to 128 bits.".formatted(ipv6Prefix));
		}
		this.ipv6Prefix = ipv6Prefix;
		this.proxies = proxies;
	}

	/** Returns the whole address of the client; {@code null} if it is unknown. */
	public @Nullable IPAddress address(HttpServletRequest request) {
		if (this.proxies == null) {
			return AddressText.connection(remoteAddress(request));
		}
		HttpServletRequest server = ServerRequest.of(request);
		if (ServerRequest.isReadByTomcat(server)) {
			this.warnings.warn(READ_BY_TOMCAT, READ_BY_TOMCAT);
		}
		IPAddress connection = AddressText.connection(ServerRequest.connection(server));
		if (connection == null) {
			return null;
		}
		if (!this.proxies.include(connection)) {
			warnIfForwarded(request);
		}
		return this.proxies.client(connection, server);
	}

	/** Returns the identifier of the client; {@code null} if there is no address. */
	public @Nullable String resolve(HttpServletRequest request) {
		if (this.proxies != null) {
			return text(address(request), ServerRequest.connection(request));
		}
		String text = remoteAddress(request);
		// Longer text may come from a header.
		return (text == null || text.length() > LONGEST_RESOLVED) ? text(AddressText.connection(text), text)
				: this.resolved.get(text, (unknown) -> text(AddressText.connection(text), text));
	}

	private @Nullable String remoteAddress(HttpServletRequest request) {
		warnIfForwarded(request);
		String text = request.getRemoteAddr();
		return (text != null && !text.isBlank()) ? text : ServerRequest.connection(request);
	}

	/**
	 * Warns of the first request with a forwarded header that is not from a trusted
	 * proxy. A valve of Tomcat has proxies of its own.
	 */
	private void warnIfForwarded(HttpServletRequest request) {
		if (!this.warnings.contains(UNKNOWN_PROXY)) {
			HttpServletRequest server = ServerRequest.of(request);
			if (Arrays.stream(ForwardedHeader.values())
				.anyMatch((header) -> server.getHeader(header.headerName()) != null)
					&& !ServerRequest.isReadByTomcat(server)) {
				this.warnings.warn(UNKNOWN_PROXY, UNKNOWN_PROXY);
			}
		}
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
				"Invalid identifier (ip:%s): must be an address or the /%s network of an IPv6 address, such as ip:203.0.113.7 or ip:2001:db8::/%s. Names are not looked up. To deny other networks, use ratelimit.deny."
					.formatted(text, this.ipv6Prefix, this.ipv6Prefix));
	}

	private @Nullable String text(@Nullable IPAddress address, @Nullable String otherwise) {
		if (address != null) {
			return text(address);
		}
		return (otherwise != null && !otherwise.isBlank()) ? otherwise : null;
	}

	private String text(IPAddress address) {
		boolean network = address.isIPv6() && this.ipv6Prefix < address.getBitCount();
		return (network ? address.toPrefixBlock(this.ipv6Prefix) : address).toCanonicalString();
	}

}
