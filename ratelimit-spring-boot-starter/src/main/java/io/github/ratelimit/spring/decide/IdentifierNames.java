package io.github.ratelimit.spring.decide;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.policy.MissingIdentifier;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ConcurrentLruCache;

/**
 * The names of identifiers: {@code ip}, {@code user}, {@code header:NAME},
 * {@code cookie:NAME}, {@code query:NAME}, {@code path}, {@code method}, {@code global},
 * identifiers of the application, {@code code:NAME}, expressions over the arguments of a
 * method such as {@code #order.customerId}, and several of them joined by plus signs.
 */
public final class IdentifierNames {

	public static final String ADDRESS = "ip";

	public static final String USER = "user";

	public static final String PATH = "path";

	public static final String METHOD = "method";

	public static final String GLOBAL = "global";

	private static final String CODE = "code:";

	/** A token (RFC 9110, section 5.6.2), without the plus sign that joins. */
	private static final Pattern NAMED = Pattern.compile("(header|cookie|query):([!#$%&'*.^_`|~0-9A-Za-z-]+)");

	private static final Pattern OWN = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]*");

	/** Of all identifiers that have no name of their own. */
	private static final List<String> SIMPLE = List.of(ADDRESS, USER, PATH, METHOD, GLOBAL);

	private static final Pattern WITH_VALUE = Pattern
		.compile("((?:header|cookie|query):[^:]*|(?!(?:header|cookie|query):)[^:]*):(.*)", Pattern.DOTALL);

	/** Names with another meaning. */
	private static final Set<String> RESERVED = Set.of(ADDRESS, USER, PATH, METHOD, GLOBAL, "header", "cookie", "query",
			MissingIdentifier.SKIP.toString(), MissingIdentifier.DENY.toString());

	/** What many clients have in common. */
	private static final Set<String> SHARED = Set.of(PATH, METHOD, GLOBAL);

	/** The parts of combinations; there are few in an application. */
	private static final ConcurrentLruCache<String, List<String>> parsed = new ConcurrentLruCache<>(1000,
			(name) -> List.copyOf(split(name, '+')));

	private IdentifierNames() {
	}

	/** Rejects a name that an identifier of the application cannot have. */
	public static String requireUsable(String name) {
		if (RESERVED.contains(name) || !OWN.matcher(name).matches()) {
			throw new IllegalArgumentException(
					"Invalid name of an identifier (%s): must be letters, digits, dots, underscores and hyphens, and none of %s."
						.formatted(name, RESERVED.stream().sorted().toList()));
		}
		return name;
	}

	/**
	 * Returns the header, cookie or query parameter that a part such as
	 * {@code header:NAME} names; {@code null} if it names none.
	 */
	public static @Nullable Named named(String part) {
		Matcher named = NAMED.matcher(part);
		return named.matches() ? new Named(named.group(1), named.group(2)) : null;
	}

	/**
	 * Returns an identifier with its value, as {@code user:admin} or
	 * {@code header:X-Api-Key:secret}; {@code null} if there is no value.
	 */
	public static @Nullable Identifier withValue(String text) {
		Matcher parts = WITH_VALUE.matcher(text);
		return (parts.matches() && !parts.group(1).isBlank() && !parts.group(2).isBlank())
				? new Identifier(parts.group(1), parts.group(2)) : null;
	}

	/**
	 * Returns an identifier with its value, of the longest of some types that fits;
	 * {@code null} if none does.
	 * @param text {@code global}, or type and value, which may both contain colons
	 */
	public static @Nullable Identifier withValue(String text, Collection<String> types) {
		if (text.equals(GLOBAL)) {
			return Identifier.GLOBAL;
		}
		return types.stream()
			.filter((type) -> text.startsWith(type + ":"))
			.max(Comparator.comparingInt(String::length))
			.map((type) -> new Identifier(type, text.substring(type.length() + 1)))
			.orElse(null);
	}

	/**
	 * Hides what may be a secret in an identifier with its value, which may be malformed:
	 * the values of headers, cookies and query parameters.
	 */
	public static String withoutSecret(String text) {
		return (text.startsWith(ADDRESS + ":") || text.startsWith(USER + ":")) ? text
				: text.replaceFirst("(?s)^([^:]*:[^:]*:).+", "$1***");
	}

	/**
	 * Changes the addresses in an identifier, unless it lacks the value of a part.
	 * @param change returns what to write instead of an address
	 */
	public static Identifier withAddress(Identifier identifier, UnaryOperator<String> change) {
		List<String> types = parts(identifier.type());
		// Plus signs within the values of a combination are encoded.
		String[] values = (types.size() > 1) ? identifier.value().split("\\+", -1)
				: new String[] { identifier.value() };
		if (!types.contains(ADDRESS) || types.size() != values.length) {
			return identifier;
		}
		for (int i = 0; i < values.length; i++) {
			if (types.get(i).equals(ADDRESS)) {
				values[i] = change.apply(values[i]);
			}
		}
		return new Identifier(identifier.type(), String.join("+", values));
	}

	/** Returns names of identifiers that an unknown part may be a misspelling of. */
	public static List<String> similar(String part) {
		List<String> names = new ArrayList<>(SIMPLE);
		String[] named = part.split(":", 2);
		if (named.length > 1 && !RESERVED.contains(named[0])) {
			names.addAll(List.of("header:" + named[1], "cookie:" + named[1], "query:" + named[1]));
		}
		return names;
	}

	/** Combines the parts of an identifier; {@code null} if one of them is missing. */
	static @Nullable Identifier combined(String name, Function<String, @Nullable Identifier> finder) {
		List<Identifier> parts = new ArrayList<>();
		for (String part : parts(name)) {
			Identifier identifier = finder.apply(part);
			if (identifier == null) {
				return null;
			}
			parts.add(identifier);
		}
		return Identifier.combine(parts);
	}

	/** Returns whether only code can give an identifier, or a part of it. */
	public static boolean isOfCode(String name) {
		return parts(name).stream().anyMatch((part) -> part.startsWith(CODE) && part.length() > CODE.length());
	}

	/**
	 * Returns whether an identifier is more than the path, the method and {@code global}.
	 */
	public static boolean tellsClientsApart(String name) {
		return !SHARED.containsAll(parts(name));
	}

	/** Returns whether all identifiers tell clients apart. */
	public static boolean tellClientsApart(List<String> names) {
		return names.stream().allMatch(IdentifierNames::tellsClientsApart);
	}

	/**
	 * Returns the parts of an identifier, between plus signs. Those in parentheses,
	 * brackets and quotes of expressions do not separate parts. Each identifier is parsed
	 * once.
	 */
	public static List<String> parts(String name) {
		return (name.indexOf('+') < 0) ? List.of(name) : parsed.get(name);
	}

	/**
	 * Returns the elements of a list of identifiers or limits, between commas, without
	 * surrounding blanks. Commas within expressions do not separate elements.
	 */
	public static List<String> list(String text) {
		return split(text, ',').stream().map(String::strip).toList();
	}

	/** Returns whether a part of an identifier is an expression. */
	public static boolean isExpression(String part) {
		return part.startsWith("#");
	}

	private static List<String> split(String text, char separator) {
		List<String> parts = new ArrayList<>();
		int start = 0;
		int partStart = 0;
		boolean expression = false;
		int depth = 0;
		char quote = 0;
		for (int i = 0; i < text.length(); i++) {
			char c = text.charAt(i);
			if (quote != 0) {
				quote = (c == quote) ? 0 : quote;
			}
			else if (depth == 0 && (c == '+' || c == ',')) {
				if (c == separator) {
					parts.add(text.substring(start, i));
					start = i + 1;
				}
				partStart = i + 1;
				expression = false;
			}
			else if (!expression) {
				// Other parts, such as names of headers, may contain unbalanced quotes.
				expression = c == '#' && text.substring(partStart, i).isBlank();
			}
			else if (c == '\'' || c == '"') {
				quote = c;
			}
			else if ("([{".indexOf(c) >= 0) {
				depth++;
			}
			else if (")]}".indexOf(c) >= 0) {
				depth--;
			}
		}
		parts.add(text.substring(start));
		return parts;
	}

	/**
	 * A part with a name.
	 *
	 * @param source {@code header}, {@code cookie} or {@code query}
	 * @param name the name of the header, cookie or query parameter
	 */
	public record Named(String source, String name) {

	}

}
