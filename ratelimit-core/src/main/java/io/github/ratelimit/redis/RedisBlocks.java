package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

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
			Call call = LIST.call(List.of(this.keys.blockEnds(), this.keys.blockDescriptions()), List.of(now, "list"));
			this.servers.send(List.of(call));
			ScriptReply reply = ScriptReply.of(Driver.isMoving(call) ? listByKey(now) : call.reply());
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
	 * Reads the list whose slot is moving.
	 * @return the end and the description of each block
	 */
	private List<Object> listByKey(String now) {
		ScriptReply ends = ScriptReply
			.of(this.servers.send(LIST.call(List.of(this.keys.blockEnds()), List.of(now, "ends"))));
		List<Long> untils = new ArrayList<>();
		List<String> arguments = new ArrayList<>(List.of(now, "descriptions"));
		while (ends.hasNext()) {
			untils.add(ends.number());
			arguments.add(ends.text());
		}
		ScriptReply descriptions = ScriptReply
			.of(this.servers.send(LIST.call(List.of(this.keys.blockDescriptions()), arguments)));
		return untils.stream().flatMap((until) -> Stream.<Object>of(until, descriptions.text())).toList();
	}

	/**
	 * In a cluster the list is elsewhere, and written after what holds: if that fails, or
	 * somebody else changes the same block at that moment, it may not agree with it.
	 */
	private long update(String now, Identifier identifier, @Nullable String policy, long micros, String reason) {
		String own = this.keys.blocks(identifier);
		List<String> list = List.of(this.keys.blockEnds(), this.keys.blockDescriptions());
		String name = (policy != null) ? policy : "";
		List<String> block = List.of(name, Long.toString(micros), this.keys.block(identifier, policy),
				BlockDescription.of(identifier, name, reason));
		if (this.servers.slot(own) == this.servers.slot(list.get(0))) {
			Call all = call(List.of(own, list.get(0), list.get(1)), now, block, "all");
			this.servers.send(List.of(all));
			if (!Driver.isMoving(all)) {
				return ScriptReply.number(all.reply());
			}
		}
		long result = run(call(List.of(own), now, block, "own"));
		// By the clock of the node that the block is on.
		updateList(list, (micros > 0) ? Long.toString(result - micros) : now, block);
		return result;
	}

	/** One Redis key after the other if their slot is moving. */
	private void updateList(List<String> list, String now, List<String> block) {
		Call call = call(list, now, block, "list");
		this.servers.send(List.of(call));
		if (Driver.isMoving(call)) {
			long last = run(call(list.subList(0, 1), now, block, "ends"));
			run(call(list.subList(1, 2), now, block, "descriptions", Long.toString(last)));
		}
		else {
			ScriptReply.number(call.reply());
		}
	}

	private static Call call(List<String> keys, String now, List<String> block, String... which) {
		List<String> arguments = new ArrayList<>(List.of(now));
		arguments.addAll(block);
		arguments.addAll(List.of(which));
		return BLOCK.call(keys, arguments);
	}

	private long run(Call call) {
		return ScriptReply.number(this.servers.send(call));
	}

}
