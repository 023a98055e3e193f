package io.github.ratelimit.spring.client;

import java.time.Duration;
import java.util.function.LongSupplier;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.StoreException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remembers who has to wait because another service has said so: in memory, whatever
 * becomes of the store, and in the store for all instances, if it can keep that.
 * <p>
 * Safe for use by several threads.
 */
final class RequestedWaits {

	private static final Logger logger = LoggerFactory.getLogger(RequestedWaits.class);

	/** About 2 MB. */
	private static final int MOST_REMEMBERED = 10_000;

	private final @Nullable BlockList blocks;

	private final boolean fails;

	private final LongSupplier nanoTime;

	/** Ends of waits, by {@link System#nanoTime()}. */
	private final Cache<Key, Long> ends = Caffeine.newBuilder()
		.executor(Runnable::run)
		.maximumSize(MOST_REMEMBERED)
		.expireAfterWrite(RequestedWait.LONGEST)
		.build();

	/**
	 * Creates a memory.
	 * @param blocks keeps waits in the store; {@code null} if it does not
	 * @param fails whether the store may lose waits; if not, it alone keeps them, by its
	 * clock
	 * @param nanoTime the time, as from {@link System#nanoTime()}
	 */
	RequestedWaits(@Nullable BlockList blocks, boolean fails, LongSupplier nanoTime) {
		this.blocks = blocks;
		this.fails = fails;
		this.nanoTime = nanoTime;
	}

	/** Denies the calls of an identifier for a time, unless they are for longer. */
	void add(String policy, Identifier identifier, Duration wait, String reason) {
		long end = this.nanoTime.getAsLong() + wait.toNanos();
		boolean longer = !this.fails || this.ends.asMap()
			.merge(new Key(policy, identifier), end, (one, other) -> (one - other > 0) ? one : other) == end;
		String where = keepInStore(policy, identifier, wait) ? "" : ", this instance only";
		if (longer) {
			// Not the identifier, which may be personal.
			logger.info("The policy '{}' denies the calls of an identifier for {}: {}{}", policy, wait, reason, where);
		}
	}

	private boolean keepInStore(String policy, Identifier identifier, Duration wait) {
		try {
			if (this.blocks != null) {
				this.blocks.pause(identifier, policy, wait);
			}
			return this.blocks != null;
		}
		catch (StoreException ex) {
			logger.debug("The store did not keep a wait", ex);
			return false;
		}
	}

	/**
	 * Returns how long an identifier has to wait, as far as this instance was told.
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
