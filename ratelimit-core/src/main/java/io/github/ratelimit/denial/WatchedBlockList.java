package io.github.ratelimit.denial;

import java.time.Duration;
import java.util.List;

import io.github.ratelimit.Block;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Identifier;
import org.jspecify.annotations.Nullable;

/**
 * Tells of each change of the blocks, also if it is not known whether there was one.
 */
final class WatchedBlockList implements BlockList {

	private final BlockList blocks;

	private final Runnable changed;

	WatchedBlockList(BlockList blocks, Runnable changed) {
		this.blocks = blocks;
		this.changed = changed;
	}

	@Override
	public Block block(Identifier identifier, @Nullable String policy, Duration time, String reason) {
		try {
			return this.blocks.block(identifier, policy, time, reason);
		}
		finally {
			this.changed.run();
		}
	}

	@Override
	public boolean unblock(Identifier identifier, @Nullable String policy) {
		try {
			return this.blocks.unblock(identifier, policy);
		}
		finally {
			this.changed.run();
		}
	}

	@Override
	public List<Block> blocks() {
		return this.blocks.blocks();
	}

}
