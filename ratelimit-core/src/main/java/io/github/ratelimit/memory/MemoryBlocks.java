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

	private final Map<Identifier, List<Block>> blocks = new HashMap<>();

	Block add(Identifier identifier, @Nullable String policy, Duration time, String reason, long nowMicros) {
		remove(identifier, policy, nowMicros);
		Instant until = instant(nowMicros).plus(time.truncatedTo(ChronoUnit.MICROS));
		Block block = new Block(identifier, policy, until, reason);
		this.blocks.computeIfAbsent(identifier, (key) -> new ArrayList<>()).add(block);
		return block;
	}

	boolean remove(Identifier identifier, @Nullable String policy, long nowMicros) {
		Instant now = instant(nowMicros);
		this.blocks.values().forEach((blocks) -> blocks.removeIf((block) -> !block.until().isAfter(now)));
		this.blocks.values().removeIf(List::isEmpty);
		List<Block> present = this.blocks.getOrDefault(identifier, List.of());
		return !present.isEmpty() && present.removeIf((block) -> Objects.equals(block.policy(), policy));
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

	private static Instant instant(long micros) {
		return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
	}

}
