package io.github.ratelimit.spring.client;

import java.time.Duration;
import java.util.function.LongSupplier;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.PolicyLimiter.Use;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remembers who has to wait because another service has said so: as blocks in the store,
 * for all instances, or in memory if the store does not keep them.
 * <p>
 * Safe for use by several threads.
 */
final class RequestedWaits {

	private static final Logger logger = LoggerFactory.getLogger(RequestedWaits.class);

	/** About 2 MB. */
	private static final int MOST_REMEMBERED = 10_000;

	private final PolicyLimiter limiter;

	private final @Nullable BlockList blocks;

	private final LongSupplier nanoTime;

	/** Ends of waits that are not blocks in the store, by {@link System#nanoTime()}. */
	private final Cache<Key, Long> ends = Caffeine.newBuilder()
		.executor(Runnable::run)
		.maximumSize(MOST_REMEMBERED)
		.expireAfterWrite(RequestedWait.LONGEST)
		.build();

	/**
	 * Creates a memory.
	 * @param limiter knows the present blocks
	 * @param blocks keeps blocks; {@code null} if the store does not
	 * @param nanoTime the time, as from {@link System#nanoTime()}
	 */
	RequestedWaits(PolicyLimiter limiter, @Nullable BlockList blocks, LongSupplier nanoTime) {
		this.limiter = limiter;
		this.blocks = blocks;
		this.nanoTime = nanoTime;
	}

	/** Denies the calls of an identifier for a time, unless they are for longer. */
	void add(String policy, Identifier identifier, Duration wait, String reason) {
		if (!block(policy, identifier, wait, reason)) {
			long end = this.nanoTime.getAsLong() + wait.toNanos();
			Long last = this.ends.asMap()
				.merge(new Key(policy, identifier), end, (one, other) -> (one - other > 0) ? one : other);
			log(policy, wait, reason + ", this instance only", last == end);
		}
	}

	private boolean block(String policy, Identifier identifier, Duration wait, String reason) {
		if (this.blocks == null) {
			return false;
		}
		try {
			Duration blocked = this.limiter.peek(Use.of(policy, identifier).withCost(0)).blockedFor();
			boolean longer = blocked == null || blocked.compareTo(wait) < 0;
			if (longer) {
				this.blocks.block(identifier, policy, wait, reason);
			}
			log(policy, wait, reason, longer);
			return true;
		}
		catch (StoreException ex) {
			logger.debug("The store did not keep a block", ex);
			return false;
		}
	}

	/** Does not log the identifier, which may be personal. */
	private static void log(String policy, Duration wait, String reason, boolean longer) {
		if (longer) {
			logger.info("The policy '{}' denies the calls of an identifier for {}: {}", policy, wait, reason);
		}
	}

	/**
	 * Returns how long an identifier has to wait that the store does not know of.
	 * @return the time; {@code null} if it has not
	 */
	@Nullable Duration remaining(String policy, Identifier identifier) {
		Long end = this.ends.getIfPresent(new Key(policy, identifier));
		long remaining = (end != null) ? end - this.nanoTime.getAsLong() : 0;
		return (remaining > 0) ? Duration.ofNanos(remaining) : null;
	}

	private record Key(String policy, Identifier identifier) {

	}

}
