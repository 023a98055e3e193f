package io.github.ratelimit.spring.web;

import inet.ipaddr.HostName;
import inet.ipaddr.IPAddress;
import inet.ipaddr.ipv6.IPv6Address;
import io.github.ratelimit.Identifier;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Identifies a request by the address of its client: an IPv4 address as it is, an IPv6
 * address by its network of 64 bits, because a client has all of that to itself.
 * <p>
 * However the address is written, it is that of one client: brackets, port and zone are
 * left out, and octal and hexadecimal numbers are read. What is no address is left as it
 * is; no name is looked up.
 * <p>
 * The address is the connection's. Forwarded headers, which anybody can send, count only
 * where the container or Spring's {@code ForwardedHeaderFilter} has been told to use
 * them.
 */
final class AddressResolver implements IdentifierResolver {

	private static final int NETWORK_BITS = 64;

	@Override
	public @Nullable Identifier resolve(HttpServletRequest request) {
		String text = request.getRemoteAddr();
		if (text == null || text.isEmpty()) {
			return null;
		}
		IPAddress address = new HostName(text).asAddress();
		if (address == null || address.isMultiple()) {
			return Identifier.ip(text);
		}
		return Identifier.ip(address.isIPv6() ? network(address.toIPv6()) : canonical(address));
	}

	private static String network(IPv6Address address) {
		if (address.isIPv4Mapped()) {
			return canonical(address.getEmbeddedIPv4Address());
		}
		return address.removeZone().withoutPrefixLength().toPrefixBlock(NETWORK_BITS).toCanonicalString();
	}

	private static String canonical(IPAddress address) {
		return address.withoutPrefixLength().toCanonicalString();
	}

}
