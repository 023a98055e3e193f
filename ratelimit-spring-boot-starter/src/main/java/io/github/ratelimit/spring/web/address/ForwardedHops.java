package io.github.ratelimit.spring.web.address;

import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.ratelimit.spring.policy.ForwardedHeader;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * The hops of a request in a forwarded header, from the last to the first, because only
 * the last ones were written by trusted proxies.
 * <p>
 * Each line is parsed from its end, so that text that a client has put before it does not
 * change how the rest is parsed.
 */
final class ForwardedHops {

	/** More than in any real chain; hops before them are ignored. */
	private static final int MOST_HOPS = 64;

	private static final int LONGEST_HOP = 512;

	private static final Pattern PAIR = Pattern
		.compile("\\G[ \\t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:\"((?:[^\"\\\\]|\\\\.)*)\"|([^\",;\\s]+))[ \\t]*(?:;|$)");

	private final ForwardedHeader header;

	private final List<String> lines;

	private int line;

	private String rest = "";

	private int hops;

	ForwardedHops(ForwardedHeader header, HttpServletRequest request) {
		this.header = header;
		this.lines = Collections.list(request.getHeaders(header.headerName()));
		this.line = this.lines.size();
	}

	/**
	 * Returns the hop before the one that was returned last.
	 * @return the text of the hop; {@code null} if there is no other hop
	 */
	@Nullable String next() {
		while (this.hops++ < MOST_HOPS) {
			if (this.rest.isEmpty()) {
				if (this.line == 0) {
					return null;
				}
				this.rest = this.lines.get(--this.line);
			}
			String element = takeLast().strip();
			if (!element.isEmpty()) {
				return (this.header == ForwardedHeader.FORWARDED) ? readFor(element) : element;
			}
		}
		return null;
	}

	private String takeLast() {
		int comma = (this.header == ForwardedHeader.FORWARDED) ? lastUnquotedComma(this.rest)
				: this.rest.lastIndexOf(',');
		String element = this.rest.substring(comma + 1);
		this.rest = this.rest.substring(0, Math.max(comma, 0));
		return element;
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
