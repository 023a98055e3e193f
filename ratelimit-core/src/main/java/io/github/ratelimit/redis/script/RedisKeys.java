package io.github.ratelimit.redis.script;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import org.jspecify.annotations.Nullable;

/**
 * Creates the names of Redis keys: <code>prefix:{type:value}:policy:form</code>.
 * <p>
 * The hash tag is the identifier alone, so that all policies of an identifier share a
 * slot of a cluster. No two pairs of identifier and policy have the same key: separators
 * are percent-encoded, and long text is replaced by a tilde, which encoded text never
 * contains, and its hash. With a secret, each value is replaced by a tilde and its hash
 * with the secret. A store with several Redis keys for such a pair adds a suffix.
 */
public final class RedisKeys {

	private static final int MAX_LENGTH = 64;

	private static final HexFormat HEX = HexFormat.of().withUpperCase();

	private static final Pattern ENCODED = Pattern.compile("%u?((?<=u)[0-9A-F]{4}|[0-9A-F]{2})");

	static final byte[] BLOCKS = ascii("~blocks");

	private static final String HMAC = "HmacSHA256";

	private final byte[] prefix;

	private final byte @Nullable [] secret;

	public RedisKeys(String prefix) {
		this(prefix, null);
	}

	/**
	 * @param secret the secret to hash the values of identifiers with; {@code null} to
	 * show them
	 * @throws IllegalArgumentException if the prefix is invalid, or the secret is empty
	 */
	public RedisKeys(String prefix, byte @Nullable [] secret) {
		if (!prefix.matches("[A-Za-z0-9._:-]{1,64}")) {
			throw new IllegalArgumentException(
					"Invalid key prefix (%s): must be 1 to 64 of the characters A-Z a-z 0-9 . _ : -".formatted(prefix));
		}
		if (secret != null && secret.length == 0) {
			throw new IllegalArgumentException("Invalid secret: must not be empty.");
		}
		this.prefix = ascii(prefix + ":{");
		this.secret = (secret != null) ? secret.clone() : null;
	}

	public byte[] key(Identifier identifier, Policy policy) {
		return withSuffix(tag(identifier), suffix(policy));
	}

	static byte[] suffix(Policy policy) {
		return ascii(encode(policy.name(), false) + ':' + policy.stateForm());
	}

	/** The form of no count begins with a tilde. */
	static byte[] denialsSuffix(Policy policy) {
		return ascii(encode(policy.name(), false) + ":~denials");
	}

	byte[] tag(Identifier identifier) {
		String type = encode(identifier.type(), false);
		String value = value(identifier);
		byte[] tag = Arrays.copyOf(this.prefix, this.prefix.length + type.length() + value.length() + 3);
		int at = put(":", tag, put(type, tag, this.prefix.length));
		put("}:", tag, put(value, tag, at));
		return tag;
	}

	/** Creates less garbage than joined text. */
	@SuppressWarnings("deprecation")
	private static int put(String ascii, byte[] target, int at) {
		ascii.getBytes(0, ascii.length(), target, at);
		return at + ascii.length();
	}

	static byte[] withSuffix(byte[] tag, byte[] suffix) {
		byte[] key = Arrays.copyOf(tag, tag.length + suffix.length);
		System.arraycopy(suffix, 0, key, tag.length, suffix.length);
		return key;
	}

	public byte[] blocks(Identifier identifier) {
		return withSuffix(tag(identifier), BLOCKS);
	}

	byte[] blockEnds() {
		return withSuffix(this.prefix, ascii("~blocks}:ends"));
	}

	byte[] blockDescriptions() {
		return withSuffix(this.prefix, ascii("~blocks}:descriptions"));
	}

	String block(Identifier identifier, @Nullable String policy) {
		return encode(identifier.type(), false) + ':' + value(identifier) + "}:"
				+ ((policy != null) ? encode(policy, false) : "");
	}

	/**
	 * An identifier as it is stored: if there is a secret, with the hash of its value.
	 */
	public Identifier shown(Identifier identifier) {
		return (this.secret != null) ? new Identifier(identifier.type(), value(identifier)) : identifier;
	}

	private String value(Identifier identifier) {
		return (this.secret != null) ? '~' + hash(percentEncode(identifier.value(), true), this.secret)
				: encode(identifier.value(), true);
	}

	private static byte[] ascii(String text) {
		return text.getBytes(StandardCharsets.US_ASCII);
	}

	private static String encode(String text, boolean colons) {
		String encoded = percentEncode(text, colons);
		return (encoded.length() <= MAX_LENGTH) ? encoded : '~' + hash(encoded, null);
	}

	private static boolean isPlain(char c, boolean colons) {
		return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-'
				|| c == '_' || c == '@' || c == '+' || c == '/' || (c == ':' && colons);
	}

	/** Encodes text, without spaces. No two texts have the same encoding. */
	static String percentEncode(String text, boolean colons) {
		int plain = 0;
		while (plain < text.length() && isPlain(text.charAt(plain), colons)) {
			plain++;
		}
		if (plain == text.length()) {
			return text;
		}
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
				// By UTF-16 unit, because UTF-8 would encode all lone surrogates alike.
				encoded.append("%u").append(HEX.toHexDigits(c));
			}
		}
		return encoded.toString();
	}

	static String percentDecode(String encoded) {
		return ENCODED.matcher(encoded)
			.replaceAll((unit) -> Matcher
				.quoteReplacement(Character.toString((char) HexFormat.fromHexDigits(unit.group(1)))));
	}

	private static String hash(String encoded, byte @Nullable [] secret) {
		byte[] hash = digest((secret != null) ? HMAC : "SHA-256", ascii(encoded), secret);
		return Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
	}

	static byte[] digest(String algorithm, byte[] text, byte @Nullable [] secret) {
		try {
			if (secret == null) {
				return MessageDigest.getInstance(algorithm).digest(text);
			}
			Mac mac = Mac.getInstance(algorithm);
			mac.init(new SecretKeySpec(secret, algorithm));
			return mac.doFinal(text);
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException("Every Java runtime has " + algorithm, ex);
		}
	}

}
