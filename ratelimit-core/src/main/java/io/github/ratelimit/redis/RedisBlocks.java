package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

import io.github.ratelimit.Block;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.StoreException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * The blocks in Redis: one key for each blocked identifier, which every request of the
 * identifier reads, and a list of all blocks that is written together with it.
 */
final class RedisBlocks {

	private static final Script BLOCK = Script.named("block");

	private static final Script LIST = Script.named("block-list");

	private final UnifiedJedis jedis;

	private final RedisKeys keys;

	RedisBlocks(UnifiedJedis jedis, RedisKeys keys) {
		this.jedis = jedis;
		this.keys = keys;
	}

	Block block(String now, Identifier identifier, @Nullable String policy, Duration time, String reason) {
		try {
			long until = update(now, identifier, policy, time.toNanos() / 1000, reason);
			return new Block(identifier, policy, instant(until), reason);
		}
		catch (JedisException ex) {
			throw new StoreException("Redis failed to block an identifier", ex);
		}
	}

	boolean unblock(String now, Identifier identifier, @Nullable String policy) {
		try {
			return update(now, identifier, policy, 0, "") > 0;
		}
		catch (JedisException ex) {
			throw new StoreException("Redis failed to unblock an identifier", ex);
		}
	}

	List<Block> list(String now) {
		try {
			Iterator<?> reply = ((List<?>) LIST.run(this.jedis,
					List.of(this.keys.blockEnds(), this.keys.blockDescriptions()), List.of(now)))
				.iterator();
			List<Block> blocks = new ArrayList<>();
			while (reply.hasNext()) {
				blocks.add(read(instant((Long) reply.next()), (String) reply.next()));
			}
			return blocks;
		}
		catch (JedisException ex) {
			throw new StoreException("Redis failed to list the blocks", ex);
		}
	}

	private long update(String now, Identifier identifier, @Nullable String policy, long micros, String reason) {
		String name = (policy != null) ? policy : "";
		return (Long) BLOCK.run(this.jedis,
				List.of(this.keys.blocks(identifier), this.keys.blockEnds(), this.keys.blockDescriptions()),
				List.of(now, name, Long.toString(micros), this.keys.block(identifier, policy),
						describe(identifier.type(), identifier.value(), name, reason)));
	}

	private static Instant instant(long micros) {
		return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
	}

	/** Texts with their lengths before them, so that they may hold anything. */
	private static String describe(String... parts) {
		StringBuilder description = new StringBuilder();
		for (String part : parts) {
			description.append(part.length()).append(':').append(part);
		}
		return description.toString();
	}

	private static Block read(Instant until, String description) {
		List<String> parts = new ArrayList<>();
		for (int at = 0; at < description.length();) {
			int colon = description.indexOf(':', at);
			int end = colon + 1 + Integer.parseInt(description.substring(at, colon));
			parts.add(description.substring(colon + 1, end));
			at = end;
		}
		return new Block(Identifier.of(parts.get(0), parts.get(1)), parts.get(2).isEmpty() ? null : parts.get(2), until,
				parts.get(3));
	}

}
