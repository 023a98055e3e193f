package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.Block;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.StoreException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisException;

/**
 * The blocks in Redis: one key for each blocked identifier, which every request of the
 * identifier reads, and a list of all blocks that is written together with it.
 */
final class RedisBlocks {

	private static final Script BLOCK = Script.named("block");

	private static final Script LIST = Script.named("block-list");

	private final Servers servers;

	private final RedisKeys keys;

	RedisBlocks(Servers servers, RedisKeys keys) {
		this.servers = servers;
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
			ScriptReply reply = ScriptReply.of(this.servers
				.send(LIST.call(List.of(this.keys.blockEnds(), this.keys.blockDescriptions()), List.of(now))));
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

	/**
	 * In a cluster the list is elsewhere, and written after what holds: if that fails, or
	 * somebody else changes the same block at that moment, it may not agree with it.
	 */
	private long update(String now, Identifier identifier, @Nullable String policy, long micros, String reason) {
		String own = this.keys.blocks(identifier);
		List<String> list = List.of(this.keys.blockEnds(), this.keys.blockDescriptions());
		String name = (policy != null) ? policy : "";
		String block = this.keys.block(identifier, policy);
		String description = BlockDescription.of(identifier, name, reason);
		if (this.servers.slot(own) == this.servers.slot(list.get(0))) {
			return run(List.of(own, list.get(0), list.get(1)), now, name, micros, block, description);
		}
		long result = run(List.of(own), now, name, micros, block, description);
		// By the clock of the node that the block is on.
		String then = (micros > 0) ? Long.toString(result - micros) : now;
		run(list, then, name, micros, block, description);
		return result;
	}

	private long run(List<String> keys, String now, String policy, long micros, String block, String description) {
		return ScriptReply.number(
				this.servers.send(BLOCK.call(keys, List.of(now, policy, Long.toString(micros), block, description))));
	}

}
