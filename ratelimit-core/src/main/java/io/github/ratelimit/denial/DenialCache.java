package io.github.ratelimit.denial;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;

import io.github.ratelimit.BlockList;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;

/**
 * Caches denials, so that clients that do not wait cost the store nothing: a denied
 * request is denied again from memory until the earliest time at which it could be
 * allowed. Safe for use by several threads.
 * <p>
 * For each denied request, the cache keeps the status of the limits for the policy,
 * identifier and cost. It answers a request if it knows all of its limits, because only
 * then the retry-after is known. If it knows only some of them, the store is asked: up to
 * 16 times a second for each count that denies, and for each request that is blocked;
 * after that the longest known time is returned. Each cost is asked about once in
 * addition, because it may be allowed. Peeks are answered from memory too. These are not
 * cached: peeks, charges in shadow mode, policies that count denied requests, denials by
 * {@linkplain io.github.ratelimit.Algorithm#countsCalls() calls}, and denials by limits
 * of another policy than that of the request, which a store of an application may apply.
 * <p>
 * Decisions from memory have only the statuses of the limits that are known to deny the
 * request, with the times that are left. As soon as quota has arrived, so that
 * {@code remaining} has changed, the store is asked again.
 * <p>
 * <b>Penalties.</b> Denials from memory count for the
 * {@linkplain io.github.ratelimit.Penalty penalties} of their policies. The store is told
 * their numbers together, a second after the first of them, for at most 10,000
 * identifiers. So a block may come a second late, and this cache notices it when it next
 * asks. If the process ends or the store fails meanwhile, the numbers are lost.
 * <p>
 * <b>No request is denied that the store would allow</b>, as long as all refunds, resets
 * and blocks pass through this cache: each drops the denials that it affects, including
 * those of requests that are being decided at the same time. Other changes are noticed
 * when a denial reaches the maximum age: refunds of other processes, a server that has
 * lost its counts, a clock that was set forward, a token bucket with a burst that
 * requests with several quotas share in other processes, and denials only because others
 * were being decided, as by a store without scripts or in several slots of a cluster.
 */
public final class DenialCache {

	/** Longest maximum age. */
	public static final Duration LONGEST_AGE = Limit.MAX_WINDOW;

	private static final int MAX_CALLS = 16;

	private final Executor later;

	private final DenialMemory memory;

	/**
	 * Creates an empty cache.
	 * @param maxAge maximum age of a denial, from 1 ms to {@link #LONGEST_AGE}: the time
	 * after which refunds of other processes are noticed
	 * @param maxSize maximum number of denials, one for each policy, identifier and cost,
	 * at least 1
	 * @throws IllegalArgumentException if one of them is out of range
	 */
	public DenialCache(Duration maxAge, long maxSize) {
		this(maxAge, maxSize, MAX_CALLS, System::nanoTime, CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS));
	}

	/**
	 * @param maxCalls how often per second the store is asked about a known denial
	 * @param later runs an action a while later, when the store is told about denials
	 */
	DenialCache(Duration maxAge, long maxSize, int maxCalls, LongSupplier nanos, Executor later) {
		if (maxAge.compareTo(Duration.ofMillis(1)) < 0 || maxAge.compareTo(LONGEST_AGE) > 0) {
			throw new IllegalArgumentException(
					"Invalid maximum age (%s): must be from 1ms to %sd.".formatted(maxAge, LONGEST_AGE.toDays()));
		}
		if (maxSize < 1) {
			throw new IllegalArgumentException("Invalid maximum size (%s): must be at least 1.".formatted(maxSize));
		}
		this.memory = new DenialMemory(maxAge, maxSize, maxCalls, nanos);
		this.later = later;
	}

	/**
	 * Answers from memory, and asks the store about the other requests. Only denials with
	 * the source {@link Source#STORE} are cached.
	 */
	public RateLimiter cache(RateLimiter store) {
		return cache(store, (policy) -> LONGEST_AGE);
	}

	/**
	 * Answers from memory as {@link #cache(RateLimiter)}, with a shorter maximum age for
	 * some policies: those whose quota other processes may soon refund.
	 */
	public RateLimiter cache(RateLimiter store, Function<Policy, Duration> maxAge) {
		return new CachedRateLimiter(store, this.memory, true, maxAge, new DenialCounts(store, this.later));
	}

	/** Asks the store about every request, and drops denials when counts change. */
	public RateLimiter watchCounts(RateLimiter store) {
		return new CachedRateLimiter(store, this.memory, false, (policy) -> LONGEST_AGE,
				new DenialCounts(store, this.later));
	}

	/** Drops all denials when an identifier is blocked or unblocked. */
	public BlockList watchBlocks(BlockList blocks) {
		return blocks.onChange((identifier, policy) -> this.memory.forgetAll());
	}

}
