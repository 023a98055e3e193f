package io.github.ratelimit.memory;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.github.ratelimit.Block;
import io.github.ratelimit.Identifier;
import org.jspecify.annotations.Nullable;

/**
 * The blocks in memory. Not safe for use by several threads.
 */
final class MemoryBlocks {

	private static final int FEW = 128;

	private final Map<Identifier, List<Block>> blocks = new HashMap<>();

	/**
	 * With so many blocked identifiers, those whose blocks have ended are removed: about
	 * one for each that was added since the last time.
	 */
	private int sweepAt = FEW;

	Block add(Identifier identifier, @Nullable String policy, Duration time, String reason, long nowMicros) {
		remove(identifier, policy, nowMicros);
		Instant until = instant(nowMicros).plus(time.truncatedTo(ChronoUnit.MICROS));
		Block block = new Block(identifier, policy, until, reason);
		this.blocks.computeIfAbsent(identifier, (key) -> new ArrayList<>()).add(block);
		return block;
	}

	boolean remove(Identifier identifier, @Nullable String policy, long nowMicros) {
		Instant now = instant(nowMicros);
		if (this.blocks.size() >= this.sweepAt) {
			this.blocks.values().forEach((blocks) -> blocks.removeIf((block) -> !block.until().isAfter(now)));
			this.blocks.values().removeIf(List::isEmpty);
			this.sweepAt = Math.max(FEW, 2 * this.blocks.size());
		}
		List<Block> present = this.blocks.getOrDefault(identifier, List.of());
		boolean found = present.stream()
			.anyMatch((block) -> Objects.equals(block.policy(), policy) && block.until().isAfter(now));
		if (!present.isEmpty() && present.removeIf((block) -> Objects.equals(block.policy(), policy))
				&& present.isEmpty()) {
			this.blocks.remove(identifier);
		}
		return found;
	}

	/** Number of identifiers with blocks, of which some may have ended. */
	int size() {
		return this.blocks.size();
	}

	/**
	 * Returns when the last block of the identifier in the policy ends, in microseconds
	 * since the epoch; 0 if there is none.
	 */
	long end(Identifier identifier, String policy) {
		long end = 0;
		for (Block block : this.blocks.getOrDefault(identifier, List.of())) {
			if (block.policy() == null || block.policy().equals(policy)) {
				end = Math.max(end, ChronoUnit.MICROS.between(Instant.EPOCH, block.until()));
			}
		}
		return end;
	}

	List<Block> list(long nowMicros) {
		Instant now = instant(nowMicros);
		return this.blocks.values()
			.stream()
			.flatMap(List::stream)
			.filter((block) -> block.until().isAfter(now))
			.sorted(Comparator.comparing(Block::until))
			.toList();
	}

	static Instant instant(long micros) {
		return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
	}

}
