package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.github.ratelimit.Block;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.StoreException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.params.ZRangeParams;

/**
 * The blocks in Redis: one key for each blocked identifier, which every request of the
 * identifier reads, and beside them a list of all blocks. A list that could not be
 * written changes nothing about who is blocked.
 */
final class RedisBlocks {

	private static final Script BLOCK = Script.named("block");

	private static final Script INDEX = Script.named("block-index");

	private final UnifiedJedis jedis;

	private final RedisKeys keys;

	RedisBlocks(UnifiedJedis jedis, RedisKeys keys) {
		this.jedis = jedis;
		this.keys = keys;
	}

	Block block(String now, Identifier identifier, @Nullable String policy, Duration time, String reason) {
		try {
			long until = update(now, identifier, policy, time.toNanos() / 1000);
			Block block = new Block(identifier, policy, Instant.EPOCH.plus(until, ChronoUnit.MICROS), reason);
			updateIndex(now, identifier, policy, until, describe(block));
			return block;
		}
		catch (JedisException ex) {
			throw new StoreException("Redis failed to block an identifier", ex);
		}
	}

	boolean unblock(String now, Identifier identifier, @Nullable String policy) {
		try {
			long found = update(now, identifier, policy, 0);
			updateIndex(now, identifier, policy, 0, "");
			return found > 0;
		}
		catch (JedisException ex) {
			throw new StoreException("Redis failed to unblock an identifier", ex);
		}
	}

	List<Block> list(Instant now) {
		try {
			long micros = ChronoUnit.MICROS.between(Instant.EPOCH, now);
			List<String> names = this.jedis.zrange(this.keys.blockEnds(),
					ZRangeParams.zrangeByScoreParams(micros + 1, Double.POSITIVE_INFINITY));
			if (names.isEmpty()) {
				return List.of();
			}
			return this.jedis.hmget(this.keys.blockDescriptions(), names.toArray(String[]::new))
				.stream()
				.filter(Objects::nonNull)
				.map(RedisBlocks::read)
				.toList();
		}
		catch (JedisException ex) {
			throw new StoreException("Redis failed to list the blocks", ex);
		}
	}

	private long update(String now, Identifier identifier, @Nullable String policy, long micros) {
		return (Long) BLOCK.run(this.jedis, List.of(this.keys.blocks(identifier)),
				List.of(now, (policy != null) ? policy : "", Long.toString(micros)));
	}

	private void updateIndex(String now, Identifier identifier, @Nullable String policy, long until,
			String description) {
		INDEX.run(this.jedis, List.of(this.keys.blockEnds(), this.keys.blockDescriptions()),
				List.of(now, this.keys.block(identifier, policy), Long.toString(until), description));
	}

	/** Texts with their lengths before them, so that they may hold anything. */
	private static String describe(Block block) {
		StringBuilder description = new StringBuilder();
		for (String part : new String[] { Long.toString(ChronoUnit.MICROS.between(Instant.EPOCH, block.until())),
				block.identifier().type(), block.identifier().value(), (block.policy() != null) ? block.policy() : "",
				block.reason() }) {
			description.append(part.length()).append(':').append(part);
		}
		return description.toString();
	}

	private static Block read(String description) {
		List<String> parts = new ArrayList<>();
		for (int at = 0; at < description.length();) {
			int colon = description.indexOf(':', at);
			int end = colon + 1 + Integer.parseInt(description.substring(at, colon));
			parts.add(description.substring(colon + 1, end));
			at = end;
		}
		Instant until = Instant.EPOCH.plus(Long.parseLong(parts.get(0)), ChronoUnit.MICROS);
		return new Block(Identifier.of(parts.get(1), parts.get(2)), parts.get(3).isEmpty() ? null : parts.get(3), until,
				parts.get(4));
	}

}
