package io.github.ratelimit.memory;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.Block;
import io.github.ratelimit.Identifier;
import org.jspecify.annotations.Nullable;

/**
 * The blocks and pauses in memory. Not safe for use by several threads.
 */
final class MemoryBlocks {

	private static final int FEW = 128;

	private final Map<Key, Block> blocks = new HashMap<>();

	/** With so many of them, those that have ended are removed. */
	private int sweepAt = FEW;

	Block add(Block block, long nowMicros) {
		remove(block.identifier(), block.policy(), nowMicros);
		this.blocks.put(new Key(block.identifier(), block.policy(), true), block);
		return block;
	}

	/** Has no effect if a block or pause of the policy lasts longer. */
	Block pause(Block pause, long nowMicros) {
		sweep(nowMicros);
		if (last(pause.identifier(), pause.policy()) <= micros(pause)) {
			this.blocks.put(new Key(pause.identifier(), pause.policy(), false), pause);
		}
		return pause;
	}

	boolean remove(Identifier identifier, @Nullable String policy, long nowMicros) {
		sweep(nowMicros);
		boolean found = last(identifier, policy) > nowMicros;
		this.blocks.remove(new Key(identifier, policy, true));
		this.blocks.remove(new Key(identifier, policy, false));
		return found;
	}

	private void sweep(long nowMicros) {
		if (this.blocks.size() >= this.sweepAt) {
			this.blocks.values().removeIf((block) -> micros(block) <= nowMicros);
			this.sweepAt = Math.max(FEW, 2 * this.blocks.size());
		}
	}

	int size() {
		return this.blocks.size();
	}

	/**
	 * Returns when the last block of the identifier in the policy ends, in microseconds;
	 * 0 if there is none.
	 */
	long end(Identifier identifier, String policy) {
		return this.blocks.isEmpty() ? 0 : Math.max(last(identifier, policy), last(identifier, null));
	}

	private long last(Identifier identifier, @Nullable String policy) {
		return Math.max(micros(this.blocks.get(new Key(identifier, policy, true))),
				micros(this.blocks.get(new Key(identifier, policy, false))));
	}

	private static long micros(@Nullable Block block) {
		return (block != null) ? ChronoUnit.MICROS.between(Instant.EPOCH, block.until()) : 0;
	}

	List<Block> list(long nowMicros) {
		return this.blocks.entrySet()
			.stream()
			.filter((each) -> each.getKey().listed() && micros(each.getValue()) > nowMicros)
			.map(Map.Entry::getValue)
			.sorted(Comparator.comparing(Block::until))
			.toList();
	}

	static Instant instant(long micros) {
		return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
	}

	private record Key(Identifier identifier, @Nullable String policy, boolean listed) {

	}

}
