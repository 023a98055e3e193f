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

	private final Map<Identifier, List<Entry>> blocks = new HashMap<>();

	/**
	 * With so many blocked identifiers, those whose blocks have ended are removed: about
	 * one for each that was added since the last time.
	 */
	private int sweepAt = FEW;

	Block add(Identifier identifier, @Nullable String policy, Duration time, String reason, long nowMicros) {
		remove(identifier, policy, nowMicros);
		Block block = new Block(identifier, policy, end(time, nowMicros), reason);
		this.blocks.computeIfAbsent(identifier, (key) -> new ArrayList<>()).add(new Entry(block, true));
		return block;
	}

	/** Keeps a block that is listed, whose end may be later. */
	boolean pause(Identifier identifier, String policy, Duration time, long nowMicros) {
		sweep(nowMicros);
		List<Entry> entries = this.blocks.computeIfAbsent(identifier, (key) -> new ArrayList<>());
		Entry pause = new Entry(new Block(identifier, policy, end(time, nowMicros), ""), false);
		if (entries.stream().anyMatch((entry) -> entry.isOf(policy) && entry.isAfter(pause.block.until()))) {
			return false;
		}
		entries.removeIf((entry) -> entry.isOf(policy) && !entry.listed);
		return entries.add(pause);
	}

	private static Instant end(Duration time, long nowMicros) {
		return instant(nowMicros).plus(time.truncatedTo(ChronoUnit.MICROS));
	}

	boolean remove(Identifier identifier, @Nullable String policy, long nowMicros) {
		sweep(nowMicros);
		Instant now = instant(nowMicros);
		List<Entry> present = this.blocks.getOrDefault(identifier, List.of());
		boolean found = present.stream().anyMatch((entry) -> entry.isOf(policy) && entry.isAfter(now));
		if (!present.isEmpty() && present.removeIf((entry) -> entry.isOf(policy)) && present.isEmpty()) {
			this.blocks.remove(identifier);
		}
		return found;
	}

	private void sweep(long nowMicros) {
		Instant now = instant(nowMicros);
		if (this.blocks.size() >= this.sweepAt) {
			this.blocks.values().forEach((entries) -> entries.removeIf((entry) -> !entry.isAfter(now)));
			this.blocks.values().removeIf(List::isEmpty);
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
		long end = 0;
		for (Entry entry : this.blocks.getOrDefault(identifier, List.of())) {
			Block block = entry.block;
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
			.filter((entry) -> entry.listed && entry.isAfter(now))
			.map(Entry::block)
			.sorted(Comparator.comparing(Block::until))
			.toList();
	}

	static Instant instant(long micros) {
		return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
	}

	private record Entry(Block block, boolean listed) {

		boolean isOf(@Nullable String policy) {
			return Objects.equals(this.block.policy(), policy);
		}

		boolean isAfter(Instant now) {
			return this.block.until().isAfter(now);
		}

	}

}
