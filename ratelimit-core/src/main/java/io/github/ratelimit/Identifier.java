package io.github.ratelimit;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Who is limited: a type and a value, such as {@code ip:203.0.113.7} or {@code user:42}.
 * Identifiers with different types or values are never counted together. A value; safe
 * for use by several threads.
 *
 * @param type the kind of identifier, not empty
 * @param value any text of any length; may be empty
 */
public record Identifier(String type, String value) {

	/** The identifier that all requests share, for limits on the total. */
	public static final Identifier GLOBAL = new Identifier("global", "");

	/**
	 * Creates an identifier.
	 * @throws IllegalArgumentException if the type is empty
	 */
	public Identifier {
		if (type.isEmpty()) {
			throw new IllegalArgumentException("Invalid identifier type (%s): must not be empty.".formatted(type));
		}
	}

	/** Creates the identifier of an address, of type {@code ip}. */
	public static Identifier ip(String address) {
		return new Identifier("ip", address);
	}

	/** Creates the identifier of a user by name or number, of type {@code user}. */
	public static Identifier user(String name) {
		return new Identifier("user", name);
	}

	/**
	 * Combines identifiers into one with its own count, such as a user at an address, of
	 * type {@code ip+user}. Different identifiers make different combinations.
	 * @param identifiers at least one identifier; a single one is returned as it is
	 */
	public static Identifier combine(List<Identifier> identifiers) {
		if (identifiers.size() == 1) {
			return identifiers.get(0);
		}
		return new Identifier(join(identifiers, Identifier::type), join(identifiers, Identifier::value));
	}

	private static String join(List<Identifier> identifiers, Function<Identifier, String> property) {
		return identifiers.stream()
			.map(property.andThen((text) -> text.replace("%", "%25").replace("+", "%2B")))
			.collect(Collectors.joining("+"));
	}

	/** Returns the type and the value, joined by a colon. */
	@Override
	public String toString() {
		return this.type + ":" + this.value;
	}

}
