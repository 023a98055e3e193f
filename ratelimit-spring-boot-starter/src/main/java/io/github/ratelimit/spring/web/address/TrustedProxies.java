package io.github.ratelimit.spring.web.address;

import java.util.List;

import inet.ipaddr.IPAddress;
import io.github.ratelimit.spring.policy.ForwardedHeader;
import jakarta.servlet.http.HttpServletRequest;

/**
 * Proxies whose forwarded headers are trusted.
 * <p>
 * The client is the last hop that is not a trusted proxy: hops before it in the header
 * may be forged. If a hop is malformed, the client is the hop after it.
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
	 * @param blocks addresses or blocks, such as {@code 10.0.0.0/8}
	 * @param header the header that the proxies write
	 * @throws IllegalArgumentException if a block is malformed, or the blocks contain all
	 * addresses, so that every client would be trusted
	 */
	public TrustedProxies(List<String> blocks, ForwardedHeader header) {
		this.blocks = new AddressBlocks(blocks);
		this.header = header;
		if (AddressBlocks.areAll(blocks)) {
			throw new IllegalArgumentException(
					"Invalid trusted proxies %s: must not be all addresses, because any client could then send the header, and choose by which address it is counted; name your own proxies only, such as 10.0.0.0/8."
						.formatted(blocks));
		}
	}

	/**
	 * Finds the address of the client behind a connection.
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
