package io.github.ratelimit.spring.web.address;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import inet.ipaddr.IPAddress;
import inet.ipaddr.IPAddressString;
import inet.ipaddr.format.util.DualIPv4v6Tries;

/**
 * A set of addresses, made of blocks. How long a look-up takes does not depend on how
 * many there are.
 * <p>
 * Safe for use by several threads: it is not changed any more.
 */
public final class AddressBlocks {

	/** All addresses that are in use: those of IPv6 are the global unicast ones. */
	private static final List<IPAddress> EVERYBODY = List.of(new IPAddressString("0.0.0.0/0").getAddress(),
			new IPAddressString("2000::/3").getAddress());

	private final DualIPv4v6Tries tries = new DualIPv4v6Tries();

	/**
	 * Creates a set.
	 * @param texts addresses and blocks, such as {@code 10.0.0.0/8}
	 * @throws IllegalArgumentException if one of them is neither
	 */
	public AddressBlocks(List<String> texts) {
		texts.stream().map(AddressText::block).forEach(this.tries::add);
	}

	/**
	 * Returns whether every address of IPv4 or of IPv6 is in one of some blocks.
	 * @throws IllegalArgumentException if one of the texts is neither address nor block
	 */
	static boolean areEverybody(List<String> texts) {
		IPAddress.DualIPv4Pv6Arrays merged = IPAddress
			.mergeToDualPrefixBlocks(texts.stream().map(AddressText::block).toArray(IPAddress[]::new));
		return Stream.<IPAddress[]>of(merged.addressesIPv4, merged.addressesIPv6)
			.flatMap(Arrays::stream)
			.anyMatch((block) -> EVERYBODY.stream().anyMatch(block::contains));
	}

	public boolean isEmpty() {
		return this.tries.isEmpty();
	}

	public boolean contains(IPAddress address) {
		return this.tries.elementContains(address);
	}

}
