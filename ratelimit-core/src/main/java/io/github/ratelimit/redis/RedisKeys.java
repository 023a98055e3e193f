package io.github.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import org.jspecify.annotations.Nullable;

/**
 * Names Redis keys: <code>prefix:{type:value}:policy:form</code>.
 * <p>
 * The hash tag is the identifier alone, so that all policies of an identifier share a
 * slot of a cluster. No two pairs of identifier and policy have the same key: whatever
 * could be taken for a separator is percent-encoded, and what is long is replaced by its
 * hash behind a tilde, which encoded text never holds. A store that keeps several Redis
 * keys for such a pair names them by numbers behind that,
 * <code>prefix:{type:value}:policy:form:name:number</code>.
 */
final class RedisKeys {

	private static final int MAX_LENGTH = 64;

	private static final HexFormat HEX = HexFormat.of().withUpperCase();

	private final String prefix;

	RedisKeys(String prefix) {
		if (!prefix.matches("[A-Za-z0-9._:-]{1,64}")) {
			throw new IllegalArgumentException(
					"Invalid key prefix (%s): must be 1 to 64 of the characters A-Z a-z 0-9 . _ : -".formatted(prefix));
		}
		this.prefix = prefix + ":{";
	}

	String key(Identifier identifier, Policy policy) {
		return this.prefix + tag(identifier) + "}:" + encode(policy.name(), false) + ':' + policy.stateForm();
	}

	/** Name of the key with the blocks of an identifier. */
	String blocks(Identifier identifier) {
		return this.prefix + tag(identifier) + "}:~blocks";
	}

	/** Name of the key with the ends of all blocks. */
	String blockEnds() {
		return this.prefix + "~blocks}:ends";
	}

	/** Name of the key with the descriptions of all blocks. */
	String blockDescriptions() {
		return this.prefix + "~blocks}:descriptions";
	}

	/** Name of a block among all blocks. */
	String block(Identifier identifier, @Nullable String policy) {
		return tag(identifier) + "}:" + ((policy != null) ? encode(policy, false) : "");
	}

	private static String tag(Identifier identifier) {
		return encode(identifier.type(), false) + ':' + encode(identifier.value(), true);
	}

	/**
	 * Names one of several Redis keys of an identifier and policy.
	 * @param key the Redis key of the identifier and policy
	 * @param name what is counted: letters and digits
	 * @param number which one it is of these
	 */
	static String part(String key, String name, long number) {
		return key + ':' + name + ':' + number;
	}

	private static String encode(String text, boolean colons) {
		int length = text.length();
		if (length <= MAX_LENGTH) {
			int plain = 0;
			while (plain < length && isPlain(text.charAt(plain), colons)) {
				plain++;
			}
			if (plain == length) {
				return text;
			}
		}
		String encoded = percentEncode(text, colons);
		return (encoded.length() <= MAX_LENGTH) ? encoded : '~' + hash(encoded);
	}

	private static boolean isPlain(char c, boolean colons) {
		return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-'
				|| c == '_' || c == '@' || c == '+' || c == '/' || (c == ':' && colons);
	}

	private static String percentEncode(String text, boolean colons) {
		StringBuilder encoded = new StringBuilder(text.length() + 16);
		for (int i = 0; i < text.length(); i++) {
			char c = text.charAt(i);
			if (isPlain(c, colons)) {
				encoded.append(c);
			}
			else if (c < 0x100) {
				encoded.append('%').append(HEX.toHexDigits((byte) c));
			}
			else {
				// By UTF-16 unit, because UTF-8 would make all lone surrogates the same.
				encoded.append("%u").append(HEX.toHexDigits(c));
			}
		}
		return encoded.toString();
	}

	private static String hash(String encoded) {
		try {
			byte[] hash = MessageDigest.getInstance("SHA-256").digest(encoded.getBytes(StandardCharsets.US_ASCII));
			return Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java runtime has SHA-256", ex);
		}
	}

}
