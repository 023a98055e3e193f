package io.github.ratelimit.spring;

/**
 * What a policy does with requests that lack what it identifies them by.
 * <p>
 * A value; safe for use by several threads.
 *
 * @since 0.1
 */
public sealed interface MissingIdentifier {

	/**
	 * Counts them by their addresses; the default.
	 */
	MissingIdentifier ADDRESS = new Fallback("ip");

	/**
	 * Does not count them by what they lack. The policy does not apply to those that lack
	 * all of its identifiers.
	 */
	MissingIdentifier SKIP = new Skip();

	/**
	 * Denies them, whichever identifier they lack, and does not count them.
	 */
	MissingIdentifier DENY = new Deny();

	/**
	 * Reads what to do.
	 * @param text {@code skip}, {@code deny}, or an identifier as in configuration
	 * @return what to do
	 * @throws IllegalArgumentException if the text is empty
	 */
	static MissingIdentifier parse(String text) {
		return switch (text) {
			case "skip" -> SKIP;
			case "deny" -> DENY;
			default -> new Fallback(text);
		};
	}

	/**
	 * Counts requests that lack all identifiers by another one; by their addresses if
	 * they lack that as well.
	 *
	 * @param identifier an identifier as in configuration, such as {@code global}
	 */
	record Fallback(String identifier) implements MissingIdentifier {

		/**
		 * Creates a fall-back.
		 * @throws IllegalArgumentException if the identifier is empty
		 */
		public Fallback {
			if (identifier.isEmpty()) {
				throw new IllegalArgumentException(
						"Invalid missing identifier (): must be skip, deny, or an identifier such as ip.");
			}
		}

	}

	/**
	 * See {@link MissingIdentifier#SKIP}.
	 */
	record Skip() implements MissingIdentifier {

	}

	/**
	 * See {@link MissingIdentifier#DENY}.
	 */
	record Deny() implements MissingIdentifier {

	}

}
