package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
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
			return new Block(identifier, policy, ScriptReply.instant(until), reason);
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
			ScriptReply reply = ScriptReply
				.of(LIST.run(this.jedis, List.of(this.keys.blockEnds(), this.keys.blockDescriptions()), List.of(now)));
			List<Block> blocks = new ArrayList<>();
			while (reply.hasNext()) {
				Instant until = reply.instant();
				BlockDescription.read(reply.text(), until).ifPresent(blocks::add);
			}
			return blocks;
		}
		catch (JedisException ex) {
			throw new StoreException("Redis failed to list the blocks", ex);
		}
	}

	private long update(String now, Identifier identifier, @Nullable String policy, long micros, String reason) {
		String name = (policy != null) ? policy : "";
		return ScriptReply.number(BLOCK.run(this.jedis,
				List.of(this.keys.blocks(identifier), this.keys.blockEnds(), this.keys.blockDescriptions()),
				List.of(now, name, Long.toString(micros), this.keys.block(identifier, policy),
						BlockDescription.of(identifier, name, reason))));
	}

}
