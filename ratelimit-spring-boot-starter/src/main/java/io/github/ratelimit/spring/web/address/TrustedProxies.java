package io.github.ratelimit.spring.web.address;

import java.util.List;

import inet.ipaddr.IPAddress;
import io.github.ratelimit.spring.ForwardedHeader;
import jakarta.servlet.http.HttpServletRequest;

/**
 * Proxies whose word counts about the addresses of their clients.
 * <p>
 * The client is the last hop that is no such proxy: what stands before that in the header
 * may be invented. If a hop cannot be read, it is the last one that can.
 * <p>
 * Safe for use by several threads.
 *
 * @since 0.1
 */
public final class TrustedProxies {

	private final AddressBlocks blocks;

	private final ForwardedHeader header;

	/**
	 * Creates proxies.
	 * @param blocks their addresses, or blocks of them, such as {@code 10.0.0.0/8}
	 * @param header the header that they write
	 * @throws IllegalArgumentException if one of the blocks is none, or if they are all
	 * addresses together, so that everybody would be trusted
	 */
	public TrustedProxies(List<String> blocks, ForwardedHeader header) {
		this.blocks = new AddressBlocks(blocks);
		this.header = header;
		if (AddressBlocks.areEverybody(blocks)) {
			throw new IllegalArgumentException(
					"Invalid trusted proxies %s: must not be all addresses, because any client could then send the header, and choose by which address it is counted; name your own proxies only, such as 10.0.0.0/8."
						.formatted(blocks));
		}
	}

	/**
	 * Finds the client behind a connection.
	 * @param connection the address of the connection
	 */
	IPAddress client(IPAddress connection, HttpServletRequest request) {
		IPAddress client = connection;
		if (!this.blocks.contains(client)) {
			return client;
		}
		ForwardedHops hops = new ForwardedHops(this.header, request);
		while (this.blocks.contains(client)) {
			String text = hops.next();
			IPAddress hop = (text != null) ? AddressText.hop(text) : null;
			if (hop == null) {
				return client;
			}
			client = hop;
		}
		return client;
	}

}
