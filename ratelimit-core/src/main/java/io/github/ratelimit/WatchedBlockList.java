package io.github.ratelimit;

import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Blocks whose changes a listener is notified of.
 */
record WatchedBlockList(BlockList watched, BiConsumer<Identifier, @Nullable String> listener) implements BlockList {

	@Override
	public Block block(Identifier identifier, @Nullable String policy, Duration time, String reason) {
		return watch(identifier, policy, () -> this.watched.block(identifier, policy, time, reason));
	}

	@Override
	public void pause(Identifier identifier, String policy, Duration time) {
		watch(identifier, policy, () -> {
			this.watched.pause(identifier, policy, time);
			return true;
		});
	}

	@Override
	public boolean unblock(Identifier identifier, @Nullable String policy) {
		return watch(identifier, policy, () -> this.watched.unblock(identifier, policy));
	}

	@Override
	public List<Block> blocks() {
		return this.watched.blocks();
	}

	private <T> T watch(Identifier identifier, @Nullable String policy, Supplier<T> change) {
		try {
			return change.get();
		}
		finally {
			this.listener.accept(identifier, policy);
		}
	}

}
