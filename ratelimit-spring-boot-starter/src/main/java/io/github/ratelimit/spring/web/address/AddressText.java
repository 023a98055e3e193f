package io.github.ratelimit.spring.web.address;

import inet.ipaddr.AddressStringException;
import inet.ipaddr.AddressStringParameters.RangeParameters;
import inet.ipaddr.HostName;
import inet.ipaddr.HostNameParameters;
import inet.ipaddr.IPAddress;
import inet.ipaddr.IPAddressString;
import inet.ipaddr.IPAddressStringParameters;
import inet.ipaddr.ipv4.IPv4AddressStringParameters;
import inet.ipaddr.ipv6.IPv6Address;
import org.jspecify.annotations.Nullable;

/**
 * Parses addresses. Names are never looked up.
 * <p>
 * IPv6 addresses that are mapped ({@code ::ffff:0:0/96}) or translated
 * ({@code 64:ff9b::/96}, RFC 6052) from IPv4 are converted to IPv4. Zones are removed.
 */
public final class AddressText {

	/** Longer than any address with a zone and a port. */
	private static final int LONGEST = 100;

	private static final HostNameParameters HOP = hop();

	private static final IPAddressStringParameters BLOCK = block();

	private AddressText() {
	}

	private static HostNameParameters hop() {
		HostNameParameters.Builder host = new HostNameParameters.Builder().allowEmpty(false)
			.allowService(false)
			.allowBracketedIPv4(false);
		strict(host.getAddressOptionsBuilder()).allowPrefix(false);
		return host.toParams();
	}

	private static IPAddressStringParameters block() {
		IPAddressStringParameters.Builder address = strict(new IPAddressStringParameters.Builder());
		address.getIPv6AddressParametersBuilder().allowZone(false);
		return address.toParams();
	}

	/** Allows unambiguous addresses only: some parsers take 010.0.0.1 for octal. */
	private static IPAddressStringParameters.Builder strict(IPAddressStringParameters.Builder address) {
		address.allowEmpty(false).allowSingleSegment(false).allowAll(false);
		address.allowMask(false).allowPrefixOnly(false).setRangeOptions(RangeParameters.NO_RANGE);
		strict(address.getIPv4AddressParametersBuilder());
		address.getIPv6AddressParametersBuilder().allowBase85(false).allowBinary(false);
		strict(address.getIPv6AddressParametersBuilder().getEmbeddedIPv4AddressParametersBuilder());
		return address;
	}

	private static void strict(IPv4AddressStringParameters.Builder address) {
		address.allow_inet_aton(false).allowBinary(false).allowLeadingZeros(false);
	}

	/**
	 * Parses the address of a connection in any form: with brackets and port, or with
	 * octal and hexadecimal numbers. Spring's filter writes brackets around an IPv4
	 * address with its port.
	 * @return the address; {@code null} if the text is not an address
	 */
	static @Nullable IPAddress connection(@Nullable String text) {
		if (text == null || text.isBlank() || text.length() > LONGEST) {
			return null;
		}
		IPAddress address = new HostName(text).asAddress();
		if (address == null && text.startsWith("[") && text.endsWith("]")) {
			address = new HostName(text.substring(1, text.length() - 1)).asAddress();
		}
		return (address != null && !address.isMultiple()) ? plain(address.withoutPrefixLength()) : null;
	}

	/**
	 * Parses an address that a proxy has written, with or without brackets and port.
	 * @return the address; {@code null} if the text is not an address, or ambiguous
	 */
	static @Nullable IPAddress hop(String text) {
		if (text.length() > LONGEST) {
			return null;
		}
		HostName name = new HostName(text, HOP);
		IPAddress address = name.asAddress();
		return (address != null && !name.isReverseDNS() && !name.isUNCIPv6Literal()) ? plain(address) : null;
	}

	/**
	 * Parses a block of addresses in the configuration.
	 * @return the block or the single address
	 * @throws IllegalArgumentException if the text is neither
	 */
	public static IPAddress block(String text) {
		IPAddress block;
		try {
			block = new IPAddressString(text.strip(), BLOCK).toAddress();
		}
		catch (AddressStringException ex) {
			throw invalid(text, "such as 10.0.0.0/8 or 2001:db8::/32; names are not looked up", ex);
		}
		if (block.getNetworkPrefixLength() != null && !block.isPrefixBlock()) {
			throw invalid(text, "and the one of this length is " + block.toPrefixBlock(), null);
		}
		return plain(block);
	}

	private static IllegalArgumentException invalid(String text, String rule, @Nullable Throwable cause) {
		return new IllegalArgumentException(
				"Invalid address (%s): must be an address or a block of addresses, %s.".formatted(text, rule), cause);
	}

	private static IPAddress plain(IPAddress address) {
		if (!address.isIPv6()) {
			return address;
		}
		IPv6Address plain = address.toIPv6().removeZone();
		return (plain.isIPv4Mapped() || plain.isWellKnownIPv4Translatable()) ? plain.getEmbeddedIPv4Address() : plain;
	}

}
