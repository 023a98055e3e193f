package io.github.ratelimit.spring.policy;

/**
 * How a policy handles requests that lack an identifier.
 * <p>
 * A value; safe for use by several threads.
 *
 * @since 0.1
 */
public sealed interface MissingIdentifier {

	/** Counts them by address; the default. */
	MissingIdentifier ADDRESS = new Fallback("ip");

	/**
	 * Does not count them by the missing identifier. The policy does not apply to
	 * requests that lack all of its identifiers.
	 */
	MissingIdentifier SKIP = new Skip();

	/** Denies them if any identifier is missing, and does not count them. */
	MissingIdentifier DENY = new Deny();

	/**
	 * Parses {@code skip}, {@code deny}, or an identifier as in configuration.
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
	 * Counts requests that lack all identifiers by another one, or by address if they
	 * lack that too.
	 *
	 * @param identifier an identifier as in configuration, such as {@code global}
	 */
	record Fallback(String identifier) implements MissingIdentifier {

		/**
		 * Creates a fallback.
		 * @throws IllegalArgumentException if the identifier is empty
		 */
		public Fallback {
			if (identifier.isEmpty()) {
				throw new IllegalArgumentException(
						"Invalid missing identifier (): must be skip, deny, or an identifier such as ip.");
			}
		}

		/** Returns the identifier. */
		@Override
		public String toString() {
			return this.identifier;
		}

	}

	/** See {@link MissingIdentifier#SKIP}. */
	record Skip() implements MissingIdentifier {

		/** Returns the text form. */
		@Override
		public String toString() {
			return "skip";
		}

	}

	/** See {@link MissingIdentifier#DENY}. */
	record Deny() implements MissingIdentifier {

		/** Returns the text form. */
		@Override
		public String toString() {
			return "deny";
		}

	}

}
