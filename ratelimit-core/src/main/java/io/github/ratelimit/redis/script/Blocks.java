package io.github.ratelimit.redis.script;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.Block;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Meter;
import io.github.ratelimit.Policy;
import io.github.ratelimit.redis.connection.CommandCall;
import io.github.ratelimit.redis.connection.ErrorText;
import io.github.ratelimit.redis.connection.Servers;
import io.github.ratelimit.redis.connection.WrongReplyException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The blocks in Redis: one key for each blocked identifier, which every request of the
 * identifier reads, and a list of all blocks, which is written together with it. If
 * values of identifiers are hashed, the list has the hashes.
 *
 * @param clock the clock; {@code null} for that of the server
 */
public record Blocks(RedisKeys keys, Servers servers, @Nullable InstantSource clock) {

	private static final Script BLOCK = Script.named("block");

	private static final Script LIST = Script.named("block-list");

	/** Those who are denied decide how many there are. */
	private static final String MOST_LISTED = "10000";

	private static final int WORK = 10;

	public Block block(Identifier identifier, @Nullable String policy, Duration time, String reason, long deadline) {
		long until = update(identifier, policy, time.toNanos() / 1000, reason, deadline);
		return new Block(identifier, policy, Answer.instant(until), reason);
	}

	/** Denies without listing, unless there is a longer block. */
	public long pause(Identifier identifier, String policy, Duration time, long deadline) {
		return write(List.of(this.keys.blocks(identifier)), now(),
				parameters(identifier, policy, time.toNanos() / 1000, ""), deadline, "pause");
	}

	/** Returns the block that the script of a request has made, as the list shows it. */
	public Block made(Answer.Penalized penalized) {
		Policy policy = penalized.charge().policy();
		return new Block(this.keys.shown(penalized.identifier()), policy.name(), Answer.instant(penalized.until()),
				Objects.requireNonNull(policy.penalty()).reason(policy.name()));
	}

	/** Enters a block that the script of a request has made, unless the list is long. */
	public void enter(Answer.Penalized penalized, long deadline) {
		Block block = made(penalized);
		List<String> parameters = parameters(penalized.identifier(), block.policy(), penalized.micros(),
				block.reason());
		updateList(listKeys(), Long.toString(penalized.until() - penalized.micros()), parameters, deadline,
				MOST_LISTED);
	}

	/** Returns whether there was such a block. */
	public boolean unblock(Identifier identifier, @Nullable String policy, long deadline) {
		return update(identifier, policy, 0, "", deadline) > 0;
	}

	/** Returns the blocks in the order in which they end. */
	public List<Block> list(long deadline) {
		Object reply = run(LIST, List.of(this.keys.blockDescriptions()), List.of(), deadline);
		List<Object> values = Answer.list(reply, 1, (value) -> value.get(0));
		Instant time = Answer.instant(values.isEmpty() ? null : values.get(0));
		Instant now = (this.clock != null) ? this.clock.instant() : time;
		return values.stream()
			.skip(1)
			.map((description) -> read(Answer.text(description)))
			.flatMap(Optional::stream)
			.filter((block) -> block.until().isAfter(now))
			.sorted(Comparator.comparing(Block::until))
			.toList();
	}

	/**
	 * In a cluster, the list may be in another slot. It is then written after the block
	 * itself; if that fails, or the same block is changed concurrently, they may differ.
	 */
	private long update(Identifier identifier, @Nullable String policy, long micros, String reason, long deadline) {
		byte[] own = this.keys.blocks(identifier);
		List<byte[]> list = listKeys();
		List<String> block = parameters(identifier, policy, micros, reason);
		String now = now();
		if (this.servers.slot(own) == this.servers.slot(list.get(0))) {
			try {
				return write(List.of(own, list.get(0), list.get(1)), now, block, deadline, "all");
			}
			catch (JedisDataException ex) {
				requireMoving(ex);
			}
		}
		long result = write(List.of(own), now, block, deadline, "own");
		// By the clock of the node that the block is on.
		updateList(list, (micros > 0) ? Long.toString(result - micros) : now, block, deadline, "");
		return result;
	}

	private List<byte[]> listKeys() {
		return List.of(this.keys.blockEnds(), this.keys.blockDescriptions());
	}

	private List<String> parameters(Identifier identifier, @Nullable String policy, long micros, String reason) {
		String name = (policy != null) ? policy : "";
		return List.of(name, Long.toString(micros), this.keys.block(identifier, policy),
				description(this.keys.shown(identifier), name, reason));
	}

	/** Writes one Redis key after the other if their slot is moving. */
	private void updateList(List<byte[]> list, String now, List<String> block, long deadline, String most) {
		try {
			write(list, now, block, deadline, "list", "", most);
		}
		catch (JedisDataException ex) {
			requireMoving(ex);
			long last = write(list.subList(0, 1), now, block, deadline, "ends");
			write(list.subList(1, 2), now, block, deadline, "descriptions", Long.toString(last));
		}
	}

	private static void requireMoving(JedisDataException ex) {
		if (!ErrorText.isOfMovingSlot(ex)) {
			throw ex;
		}
	}

	private long write(List<byte[]> keys, String now, List<String> block, long deadline, String... which) {
		List<String> arguments = new ArrayList<>(List.of(now));
		arguments.addAll(block);
		arguments.addAll(List.of(which));
		return Answer.number(run(BLOCK, keys, arguments, deadline));
	}

	private @Nullable Object run(Script script, List<byte[]> keys, List<String> arguments, long deadline) {
		CommandCall call = new CommandCall(
				(source) -> List.of(script.command(source).add(keys.size()).addObjects(keys).addObjects(arguments)),
				WORK, this.servers.slot(keys.get(0)), deadline);
		this.servers.submit(call);
		return call.await();
	}

	/** Without the end of the block. */
	private static String description(Identifier identifier, String policy, String reason) {
		return Stream.of(identifier.type(), identifier.value(), policy, reason)
			.map((text) -> RedisKeys.percentEncode(text, true))
			.collect(Collectors.joining(" "));
	}

	/** Reads a block of the list; empty if another program wrote it. */
	private static Optional<Block> read(String described) {
		try {
			List<String> texts = Stream.of(described.split(" ", -1)).map(RedisKeys::percentDecode).toList();
			String policy = texts.get(3).isEmpty() ? null : texts.get(3);
			BlockList.requireValid(policy);
			Block block = new Block(new Identifier(texts.get(1), texts.get(2)), policy,
					Answer.instant(Long.parseLong(texts.get(0))), texts.get(4));
			String same = texts.get(0) + ' ' + description(block.identifier(), texts.get(3), block.reason());
			return described.equals(same) ? Optional.of(block) : Optional.empty();
		}
		catch (IllegalArgumentException | IndexOutOfBoundsException | WrongReplyException ex) {
			return Optional.empty();
		}
	}

	private String now() {
		return (this.clock != null) ? Long.toString(Meter.micros(this.clock.instant())) : "";
	}

}
