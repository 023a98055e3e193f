package io.github.ratelimit.spring.web.address;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import inet.ipaddr.IPAddress;
import inet.ipaddr.IPAddressString;
import inet.ipaddr.format.util.DualIPv4v6Tries;

/**
 * An immutable set of address blocks. The time of a look-up does not depend on its size.
 * <p>
 * Safe for use by several threads.
 */
public final class AddressBlocks {

	/** All addresses in use: for IPv6, the global unicast addresses. */
	private static final List<IPAddress> ALL = List.of(new IPAddressString("0.0.0.0/0").getAddress(),
			new IPAddressString("2000::/3").getAddress());

	private final DualIPv4v6Tries tries = new DualIPv4v6Tries();

	/**
	 * Creates a set.
	 * @param texts addresses and blocks, such as {@code 10.0.0.0/8}
	 * @throws IllegalArgumentException if a text is neither
	 */
	public AddressBlocks(List<String> texts) {
		texts.stream().map(AddressText::block).forEach(this.tries::add);
	}

	/**
	 * Returns whether some blocks contain all addresses of IPv4 or of IPv6.
	 * @throws IllegalArgumentException if a text is neither an address nor a block
	 */
	static boolean areAll(List<String> texts) {
		IPAddress.DualIPv4Pv6Arrays merged = IPAddress
			.mergeToDualPrefixBlocks(texts.stream().map(AddressText::block).toArray(IPAddress[]::new));
		return Stream.<IPAddress[]>of(merged.addressesIPv4, merged.addressesIPv6)
			.flatMap(Arrays::stream)
			.anyMatch((block) -> ALL.stream().anyMatch(block::contains));
	}

	public boolean isEmpty() {
		return this.tries.isEmpty();
	}

	public boolean contains(IPAddress address) {
		return this.tries.elementContains(address);
	}

}
