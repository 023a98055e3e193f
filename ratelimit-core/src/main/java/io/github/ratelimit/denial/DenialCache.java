package io.github.ratelimit.denial;

import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.github.ratelimit.Block;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import org.jspecify.annotations.Nullable;

/**
 * Remembers denials, so that callers who do not wait cost the store nothing: a denied
 * request is denied from memory until the earliest time at which it could be allowed.
 * <p>
 * The cache remembers how the limits of a policy stood for an identifier and a cost when
 * a request was denied. It answers a request if it remembers all of its limits, because
 * only then is the time to wait known. If it remembers some of them, the request may be
 * certain to be denied, but not for how long, and the store is asked. It is asked up to
 * 16 times a second about callers who do not wait and change a part of their request each
 * time; then the longest time that is known is the answer. Peeks are answered from memory
 * too, but are not remembered. Blocks are remembered for all identifiers and policies of
 * a request together, because the store does not say which of them is blocked. Requests
 * of policies that count denied requests always reach the store. What is in shadow mode
 * denies nothing and is not remembered; a denial from memory does not tell of it.
 * <p>
 * Decisions from memory have the statuses of the limits that are known to deny the
 * request, and no others. Times are what is left of them. As soon as quota has arrived,
 * so that {@code remaining} has changed, the store is asked again.
 * <p>
 * <b>No request is denied that the store would allow</b>, as long as all refunds, resets
 * and blocks pass through this cache: each drops the denials that it concerns, also those
 * of requests that are being decided meanwhile. What other processes give back is noticed
 * when a denial reaches the maximum age; so is a server that has lost its counts, or
 * whose clock was set forward. The same holds for a token bucket with a burst that
 * requests of several quotas share in other processes, and for a store that may deny a
 * request because others are being decided, as one without scripts does, and one in a
 * cluster if requests have identifiers on several slots: such a denial lasts up to the
 * maximum age instead of a moment.
 * <p>
 * Safe for use by several threads.
 *
 * @since 0.1
 */
public final class DenialCache {

	/**
	 * Longest maximum age.
	 */
	public static final Duration LONGEST_AGE = Limit.MAX_WINDOW;

	private static final int MAX_CALLS = 16;

	private final Supplier<DenialMemory> newMemory;

	private volatile DenialMemory memory;

	/**
	 * Creates an empty cache.
	 * @param maxAge for how long a denial is remembered at most, from 1 ms to
	 * {@link #LONGEST_AGE}: the time after which what other processes give back is
	 * noticed
	 * @param maxSize how many policies, identifiers and costs are remembered at most, at
	 * least 1
	 * @throws IllegalArgumentException if one of them is out of range
	 */
	public DenialCache(Duration maxAge, long maxSize) {
		this(maxAge, maxSize, MAX_CALLS, System::nanoTime);
	}

	/**
	 * Creates an empty cache.
	 * @param maxCalls how often the store is asked, in a second, about an identifier that
	 * is certainly denied
	 * @param nanos the time, in nanoseconds
	 */
	DenialCache(Duration maxAge, long maxSize, int maxCalls, LongSupplier nanos) {
		if (maxAge.compareTo(Duration.ofMillis(1)) < 0 || maxAge.compareTo(LONGEST_AGE) > 0) {
			throw new IllegalArgumentException(
					"Invalid maximum age (%s): must be from 1ms to %dd.".formatted(maxAge, LONGEST_AGE.toDays()));
		}
		if (maxSize < 1) {
			throw new IllegalArgumentException("Invalid maximum size (%d): must be at least 1.".formatted(maxSize));
		}
		this.newMemory = () -> new DenialMemory(maxAge, maxSize, maxCalls, nanos);
		this.memory = this.newMemory.get();
	}

	/**
	 * Answers from memory, and asks the store about the other requests.
	 * @param store the store, or what decides while it fails; only denials with the
	 * source {@link Source#STORE} are remembered
	 * @return a rate limiter that asks the store only if the answer is not known
	 */
	public RateLimiter cache(RateLimiter store) {
		return cache(store, (policy) -> LONGEST_AGE);
	}

	/**
	 * Answers from memory as {@link #cache(RateLimiter)}, and remembers the denials of
	 * some policies for less than the maximum age: those that other processes may soon
	 * give something back to.
	 * @param store the store
	 * @param maxAge for how long a denial of a policy is remembered at most, if that is
	 * less than the maximum age of this cache
	 * @return a rate limiter that asks the store only if the answer is not known
	 */
	public RateLimiter cache(RateLimiter store, Function<Policy, Duration> maxAge) {
		return new CachedRateLimiter(store, () -> this.memory, true, maxAge);
	}

	/**
	 * Asks the store about every request, and drops denials when something is used or
	 * given back.
	 * @param store the store
	 * @return a rate limiter that asks the store each time
	 */
	public RateLimiter watchCounts(RateLimiter store) {
		return new CachedRateLimiter(store, () -> this.memory, false, (policy) -> LONGEST_AGE);
	}

	/**
	 * Drops all denials when somebody is blocked or unblocked.
	 * @param blocks the blocks of the store
	 * @return the same blocks
	 */
	public BlockList watchBlocks(BlockList blocks) {
		return new WatchedBlockList(blocks);
	}

	/** Drops all denials after each change, even one whose outcome is not known. */
	private final class WatchedBlockList implements BlockList {

		private final BlockList blocks;

		WatchedBlockList(BlockList blocks) {
			this.blocks = blocks;
		}

		@Override
		public Block block(Identifier identifier, @Nullable String policy, Duration time, String reason) {
			try {
				return this.blocks.block(identifier, policy, time, reason);
			}
			finally {
				forgetAll();
			}
		}

		@Override
		public boolean unblock(Identifier identifier, @Nullable String policy) {
			try {
				return this.blocks.unblock(identifier, policy);
			}
			finally {
				forgetAll();
			}
		}

		@Override
		public List<Block> blocks() {
			return this.blocks.blocks();
		}

		/** Calls that are under way go on to write to the memory before. */
		private void forgetAll() {
			DenialCache.this.memory = DenialCache.this.newMemory.get();
		}

	}

}
