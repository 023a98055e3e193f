package io.github.ratelimit.memory;

import java.time.Instant;
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

	void add(Block block, Instant now) {
		remove(block.identifier(), block.policy(), now);
		this.blocks.computeIfAbsent(block.identifier(), (identifier) -> new ArrayList<>()).add(block);
	}

	boolean remove(Identifier identifier, @Nullable String policy, Instant now) {
		this.blocks.values().forEach((blocks) -> blocks.removeIf((block) -> !block.until().isAfter(now)));
		this.blocks.values().removeIf(List::isEmpty);
		List<Block> present = this.blocks.getOrDefault(identifier, List.of());
		return !present.isEmpty() && present.removeIf((block) -> Objects.equals(block.policy(), policy));
	}

	/**
	 * When the last block of the identifier in the policy ends; the epoch if there is
	 * none.
	 */
	Instant end(Identifier identifier, String policy) {
		Instant end = Instant.EPOCH;
		for (Block block : this.blocks.getOrDefault(identifier, List.of())) {
			if ((block.policy() == null || block.policy().equals(policy)) && block.until().isAfter(end)) {
				end = block.until();
			}
		}
		return end;
	}

	List<Block> list(Instant now) {
		return this.blocks.values()
			.stream()
			.flatMap(List::stream)
			.filter((block) -> block.until().isAfter(now))
			.sorted(Comparator.comparing(Block::until))
			.toList();
	}

}
