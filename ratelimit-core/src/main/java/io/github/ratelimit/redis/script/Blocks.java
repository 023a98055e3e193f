package io.github.ratelimit.redis.script;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;

import io.github.ratelimit.Block;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.redis.connection.Servers;
import org.jspecify.annotations.Nullable;

/** x. */
public final class Blocks {

	/** x. */
	public Blocks(RedisKeys keys, Servers servers, Duration budget) {
	}

	/** x. */
	public Blocks withClock(InstantSource clock) {
		return this;
	}

	/** x. */
	public Block block(Identifier identifier, @Nullable String policy, Duration time, String reason) {
		throw new UnsupportedOperationException();
	}

	/** x. */
	public boolean unblock(Identifier identifier, @Nullable String policy) {
		throw new UnsupportedOperationException();
	}

	/** x. */
	public List<Block> list() {
		throw new UnsupportedOperationException();
	}

}
