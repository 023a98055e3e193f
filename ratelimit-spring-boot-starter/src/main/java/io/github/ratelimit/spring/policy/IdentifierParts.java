package io.github.ratelimit.spring.policy;

import java.util.ArrayList;
import java.util.List;

/**
 * Splits the names of identifiers: {@code ip+#order.customerId} combines an address with
 * an expression over the arguments of a method.
 *
 * @since 0.1
 */
public final class IdentifierParts {

	private IdentifierParts() {
	}

	/**
	 * Returns the parts of an identifier.
	 * @param name an identifier
	 * @return the parts between plus signs; plus signs in parentheses, brackets and
	 * quotes of expressions do not separate parts
	 */
	public static List<String> of(String name) {
		return split(name, '+');
	}

	/**
	 * Returns the elements of a list of identifiers or limits.
	 * @param text the elements, separated by commas
	 * @return the elements, without surrounding blanks; commas in parentheses, brackets
	 * and quotes of expressions do not separate elements
	 */
	public static List<String> list(String text) {
		return split(text, ',').stream().map(String::strip).toList();
	}

	/**
	 * Returns whether a part of an identifier is an expression.
	 * @param part the part
	 * @return whether it starts with {@code #}
	 */
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

}
