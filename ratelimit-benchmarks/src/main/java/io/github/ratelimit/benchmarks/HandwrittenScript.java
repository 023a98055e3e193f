package io.github.ratelimit.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

import redis.clients.jedis.UnifiedJedis;

/**
 * A script for one algorithm and a single limit, as found in articles on the web, for
 * comparison. It returns only whether a request is allowed and what remains: no
 * {@code retryAfter}, no second limit or identifier, no costs, and no handling of a clock
 * that is set back.
 */
public final class HandwrittenScript {

	/** The script of each algorithm. */
	private static final Map<String, String> NAMES = Map.of("fixed-window", "counter", "first-request-window",
			"counter", "sliding-log", "list-log", "sliding-window", "sub-window-hash", "sliding-window-counter",
			"two-window-hash", "leaky-bucket", "gcra", "token-bucket", "gcra");

	private final UnifiedJedis jedis;

	private final String name;

	private final String sha1;

	private HandwrittenScript(UnifiedJedis jedis, String name) {
		this.jedis = jedis;
		this.name = name;
		this.sha1 = jedis.scriptLoad(read(name + ".lua"), MeasuredRedis.KEY_PREFIX);
	}

	/**
	 * Loads the script to compare an algorithm with.
	 */
	public static HandwrittenScript of(String algorithm, UnifiedJedis jedis) {
		String name = NAMES.get(algorithm);
		if (name == null) {
			throw new IllegalArgumentException("Invalid algorithm (%s): nothing to compare with.".formatted(algorithm));
		}
		return new HandwrittenScript(jedis, name);
	}

	/**
	 * Decides a request.
	 * @return whether it is allowed
	 */
	public boolean run(String identifier, long quota, long windowMicros) {
		String key = MeasuredRedis.KEY_PREFIX + ":{user:" + identifier + "}:" + this.name;
		List<?> reply = (List<?>) this.jedis.evalsha(this.sha1, List.of(key),
				List.of(Long.toString(quota), Long.toString(windowMicros)));
		return reply.get(0).equals(1L);
	}

	/**
	 * Reads the text of a script.
	 * @param name of the resource
	 */
	public static String read(String name) {
		try (InputStream resource = HandwrittenScript.class.getResourceAsStream(name)) {
			if (resource == null) {
				throw new IllegalArgumentException("Invalid script (%s): there is no such resource.".formatted(name));
			}
			return new String(resource.readAllBytes(), StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
