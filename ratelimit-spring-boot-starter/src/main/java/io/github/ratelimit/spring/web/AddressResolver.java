package io.github.ratelimit.spring.web;

import inet.ipaddr.IPAddress;
import inet.ipaddr.IPAddressString;
import inet.ipaddr.ipv6.IPv6Address;
import io.github.ratelimit.Identifier;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Identifies a request by the address of its client: an IPv4 address as it is, an IPv6
 * address by its network of 64 bits, because a client has all of that to itself.
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
		IPAddress address = new IPAddressString(text).getAddress();
		return Identifier.ip((address != null && address.isIPv6()) ? network(address.toIPv6()) : text);
	}

	private static String network(IPv6Address address) {
		if (address.isIPv4Mapped()) {
			return address.getEmbeddedIPv4Address().toCanonicalString();
		}
		return address.removeZone().toPrefixBlock(NETWORK_BITS).toCanonicalString();
	}

}
