package io.github.ratelimit.redis.script;

import java.nio.charset.StandardCharsets;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;

/**
 * The Redis keys of a test, as text.
 */
public final class KeyNames {

	private final RedisKeys keys;

	public KeyNames(String prefix) {
		this.keys = new RedisKeys(prefix);
	}

	public String key(Identifier identifier, Policy policy) {
		return text(this.keys.key(identifier, policy));
	}

	public String blocks(Identifier identifier) {
		return text(this.keys.blocks(identifier));
	}

	public String blockEnds() {
		return text(this.keys.blockEnds());
	}

	public String blockDescriptions() {
		return text(this.keys.blockDescriptions());
	}

	private static String text(byte[] key) {
		return new String(key, StandardCharsets.US_ASCII);
	}

}
