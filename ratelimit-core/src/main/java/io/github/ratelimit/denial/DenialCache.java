package io.github.ratelimit.denial;

import java.time.Duration;
import java.util.function.LongSupplier;

import io.github.ratelimit.BlockList;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Limit;
import io.github.ratelimit.RateLimiter;

/**
 * Remembers who was denied, so that those who do not wait cost the store nothing: until
 * the earliest time at which a request could be allowed, it is denied from memory.
 * <p>
 * What is remembered is how the limits of a policy with its quotas stood for an
 * identifier and a cost, when a request was denied. A request is answered from memory if
 * all of its limits are remembered, so that it is told how long it has to wait for all of
 * them. If only some are, it may be certain to be denied, but not for how long; then the
 * store is asked. Peeks are answered from memory too, but are not remembered. Of those
 * who do not wait, but change a part of their request each time, the store is asked up to
 * 16 times a second; then they are told of the longest time that is known. Blocks are
 * remembered by all identifiers and policies of a request, since the store does not say
 * which of them is blocked. Requests of policies that count denied requests always reach
 * the store.
 * <p>
 * Decisions from memory tell of the limits that are known to deny the request, and not of
 * others. Times are those that are left; as soon as quota has arrived, so that
 * {@code remaining} is no longer what it was, the store is asked again.
 * <p>
 * <b>Nobody is denied whom the store would allow</b>, as long as all that gives quota
 * back passes through here: refunds, resets and blocks, of which each drops what it
 * concerns, also for requests that are being decided meanwhile. What other processes give
 * back is noticed when the denial is older than the maximum age; so is a server that has
 * lost its counts, or whose clock was set forward. The same holds for a store that denies
 * requests while others are being decided, as one without scripts does, and one in a
 * cluster if requests have identifiers on several slots: a denial that would have been
 * over in a moment then lasts up to the maximum age. And it holds for a token bucket with
 * a burst that requests of several quotas share in other processes.
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

	private final DenialMemory memory;

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
		this.memory = new DenialMemory(maxAge, maxSize, maxCalls, nanos);
	}

	/**
	 * Answers those who were denied without asking the store.
	 * @param store the store, or what decides while it fails; only denials with the
	 * source {@link Source#STORE} are remembered
	 * @return a rate limiter that asks the store about everybody else
	 */
	public RateLimiter cache(RateLimiter store) {
		return new CachedRateLimiter(store, this.memory, true);
	}

	/**
	 * Drops denials when something is used or given back, and asks the store about
	 * everybody.
	 * @param store the store
	 * @return a rate limiter that asks the store each time
	 */
	public RateLimiter watchCounts(RateLimiter store) {
		return new CachedRateLimiter(store, this.memory, false);
	}

	/**
	 * Drops all denials when somebody is blocked or unblocked.
	 * @param blocks the blocks of the store
	 * @return the same blocks
	 */
	public BlockList watchBlocks(BlockList blocks) {
		return new WatchedBlockList(blocks, this.memory::forgetAll);
	}

}
