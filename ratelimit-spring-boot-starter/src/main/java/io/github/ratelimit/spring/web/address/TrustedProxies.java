package io.github.ratelimit.spring.web.address;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import inet.ipaddr.IPAddress;
import inet.ipaddr.format.util.DualIPv4v6Tries;
import io.github.ratelimit.spring.config.ForwardedHeader;
import jakarta.servlet.http.HttpServletRequest;

/**
 * Proxies whose forwarded headers are trusted.
 * <p>
 * The client is the last hop that is not a trusted proxy: hops before it in the header
 * may be forged. If a hop is malformed, the client is the hop after it.
 * <p>
 * Safe for use by several threads.
 */
public final class TrustedProxies {

	/** All addresses in use: for IPv6, the global unicast addresses. */
	private static final List<IPAddress> ALL = List.of(AddressText.block("0.0.0.0/0"), AddressText.block("2000::/3"));

	/** More than in any real chain; hops before them are ignored. */
	private static final int MOST_HOPS = 64;

	private static final int LONGEST_HOP = 512;

	private static final Pattern PAIR = Pattern
		.compile("\\G[ \\t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:\"((?:[^\"\\\\]|\\\\.)*)\"|([^\",;\\s]+))[ \\t]*(?:;|$)");

	private final DualIPv4v6Tries blocks = new DualIPv4v6Tries();

	private final ForwardedHeader header;

	/**
	 * Creates proxies.
	 * @param texts addresses or blocks, such as {@code 10.0.0.0/8}
	 * @param header the header that the proxies write
	 * @throws IllegalArgumentException if a block is malformed, or the blocks contain all
	 * addresses, so that every client would be trusted
	 */
	public TrustedProxies(List<String> texts, ForwardedHeader header) {
		this.header = header;
		IPAddress[] blocks = texts.stream().map(AddressText::block).toArray(IPAddress[]::new);
		Arrays.stream(blocks).forEach(this.blocks::add);
		IPAddress.DualIPv4Pv6Arrays merged = IPAddress.mergeToDualPrefixBlocks(blocks);
		if (Stream.<IPAddress[]>of(merged.addressesIPv4, merged.addressesIPv6)
			.flatMap(Arrays::stream)
			.anyMatch((block) -> ALL.stream().anyMatch(block::contains))) {
			throw new IllegalArgumentException(
					"Invalid trusted proxies %s: must not be all addresses, because any client could then send the header, and choose by which address it is counted; name your own proxies only, such as 10.0.0.0/8."
						.formatted(texts));
		}
	}

	/** Returns whether an address is that of a trusted proxy. */
	boolean include(IPAddress address) {
		return this.blocks.elementContains(address);
	}

	/**
	 * Finds the address of the client behind a connection. The header is parsed from its
	 * end, so that what a client has sent does not change how the rest is parsed.
	 * @param connection the address of the connection
	 */
	IPAddress client(IPAddress connection, HttpServletRequest request) {
		IPAddress client = connection;
		String rest = include(client) ? String.join(",", Collections.list(request.getHeaders(this.header.headerName())))
				: "";
		for (int hops = 0; hops < MOST_HOPS && !rest.isEmpty() && include(client); hops++) {
			boolean standard = this.header == ForwardedHeader.FORWARDED;
			int comma = standard ? lastUnquotedComma(rest) : rest.lastIndexOf(',');
			String element = rest.substring(comma + 1).strip();
			rest = rest.substring(0, Math.max(comma, 0));
			if (!element.isEmpty()) {
				IPAddress hop = AddressText.hop(standard ? readFor(element) : element);
				if (hop == null) {
					return client;
				}
				client = hop;
			}
		}
		return client;
	}

	private static int lastUnquotedComma(String text) {
		int i = text.length() - 1;
		while (i >= 0 && text.charAt(i) != ',') {
			if (text.charAt(i) == '"') {
				i = openingQuote(text, i);
			}
			i--;
		}
		return Math.max(i, -1);
	}

	private static int openingQuote(String text, int closing) {
		int quote = text.lastIndexOf('"', closing - 1);
		while (quote >= 0 && isEscaped(text, quote)) {
			quote = text.lastIndexOf('"', quote - 1);
		}
		return quote;
	}

	private static boolean isEscaped(String text, int index) {
		int backslashes = 0;
		while (backslashes < index && text.charAt(index - 1 - backslashes) == '\\') {
			backslashes++;
		}
		return backslashes % 2 == 1;
	}

	/**
	 * Returns the value of {@code for} in an element such as
	 * {@code for="[2001:db8::1]:80";proto=https}; empty if there is not exactly one.
	 */
	private static String readFor(String element) {
		if (element.length() > LONGEST_HOP) {
			return "";
		}
		String hop = "";
		int end = 0;
		Matcher pair = PAIR.matcher(element);
		while (end < element.length() && pair.find()) {
			end = pair.end();
			if (pair.group(1).equalsIgnoreCase("for")) {
				if (!hop.isEmpty()) {
					return "";
				}
				hop = (pair.group(3) != null) ? pair.group(3) : pair.group(2).replaceAll("\\\\(.)", "$1");
			}
		}
		return (end == element.length()) ? hop : "";
	}

}
