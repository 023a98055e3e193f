package io.github.ratelimit.replay;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.ratelimit.Identifier;
import org.jspecify.annotations.Nullable;

/**
 * Who is counted, in the words of {@code identifiers} in a policy.
 *
 * @param names the parts that count as one
 */
record By(List<String> names) {

	/** Methods of which policies know the names. */
	private static final Set<String> METHODS = Set.of("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE");

	private static final Pattern WITH_PORT = Pattern.compile("^(\\d+(?:\\.\\d+){3}|\\[\\p{XDigit}*:[^]]*]):\\d+$");

	/** What the JDK never looks up as a name; in brackets, or with a zone. */
	private static final Pattern IPV6 = Pattern.compile("\\[?(\\p{XDigit}*:[\\p{XDigit}:.]*)(?:%[^]]*)?]?");

	/**
	 * @throws IllegalArgumentException if a part is unknown
	 */
	static By parse(String text) {
		List<String> names = List.of(text.split("\\+", -1));
		if (!names.stream().allMatch((name) -> name.matches("ip|user|path|method|global|header:[\\w!#$%&'*.^|~-]+"))
				|| names.stream().map((name) -> name.toLowerCase(Locale.ROOT)).distinct().count() < names.size()) {
			throw new IllegalArgumentException("Invalid identifier (" + text
					+ "): must be ip, user, path, method, global, header:NAME, or different ones joined by a plus.");
		}
		return new By(names);
	}

	/**
	 * Returns the client of a line. One that lacks a part is counted by its address, as
	 * policies do by default; {@code null} if it has none either.
	 */
	@Nullable Identifier identify(LogLine line, Paths paths) {
		List<Identifier> parts = new ArrayList<>();
		for (String name : this.names) {
			String value = switch (name) {
				case "ip" -> address(line);
				case "path" -> paths.pattern(line);
				case "method" -> method(line);
				case "global" -> "";
				default -> line.field(name);
			};
			if (value == null) {
				String address = address(line);
				return (address != null) ? Identifier.ip(address) : null;
			}
			parts.add(new Identifier(name, value));
		}
		return Identifier.combine(parts);
	}

	/** Unknown methods count as one, because a client may invent any number. */
	private static @Nullable String method(LogLine line) {
		String method = line.method();
		return (method == null || METHODS.contains(method)) ? method : "*";
	}

	/**
	 * Ports do not count. IPv6 addresses count by their /64 network, as policies do by
	 * default.
	 */
	private static @Nullable String address(LogLine line) {
		String text = line.field("ip");
		if (text == null || text.indexOf(':') < 0) {
			return text;
		}
		String withoutPort = WITH_PORT.matcher(text).replaceFirst("$1");
		Matcher ipv6 = IPV6.matcher(withoutPort);
		if (!ipv6.matches()) {
			return withoutPort;
		}
		try {
			InetAddress address = InetAddress.getByName(ipv6.group(1));
			byte[] network = Arrays.copyOf(Arrays.copyOf(address.getAddress(), 8), 16);
			return (address instanceof Inet6Address)
					? InetAddress.getByAddress(network).getHostAddress().replaceFirst("(:0){4}$", "::/64")
					: address.getHostAddress();
		}
		catch (UnknownHostException ex) {
			return text;
		}
	}

	@Override
	public String toString() {
		return String.join("+", this.names);
	}

}
