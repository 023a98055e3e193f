package io.github.ratelimit;

import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

/**
 * Blocks identifiers manually, for a time, and lists all blocks, also those that a
 * {@link Penalty} has made. Requests of a blocked identifier are denied regardless of
 * their limits. Blocks are checked together with the limits, without another round trip.
 * After a {@link StoreException}, the change may or may not have been made.
 * Implementations must be safe for use by several threads.
 */
public interface BlockList {

	/** Longest reason, in characters. */
	int MAX_REASON_LENGTH = 256;

	/**
	 * Blocks an identifier from now on. This replaces a block of the same identifier and
	 * policy.
	 * @param policy name of the policy to block the identifier in; {@code null} for all
	 * policies
	 * @param time how long to block, from 1 ms to {@link Limit#MAX_WINDOW}
	 * @param reason the reason, for people; may be empty, at most
	 * {@link #MAX_REASON_LENGTH} characters
	 * @throws IllegalArgumentException if the time, the reason or the name of the policy
	 * is invalid
	 * @throws StoreException if the store did not answer
	 */
	Block block(Identifier identifier, @Nullable String policy, Duration time, String reason);

	/**
	 * Denies an identifier in a policy from now on, as a block does, but does not list
	 * it: for identifiers that have done nothing wrong, as when another service asks to
	 * wait. A block or pause of the same identifier and policy that ends later stays.
	 * @param time how long to deny, from 1 ms to {@link Limit#MAX_WINDOW}
	 * @throws IllegalArgumentException if the time or the name of the policy is invalid
	 * @throws StoreException if the store did not answer
	 */
	void pause(Identifier identifier, String policy, Duration time);

	/**
	 * Ends a block or pause.
	 * @param policy name of the policy; {@code null} for the block in all policies
	 * @return whether there was such a block
	 * @throws IllegalArgumentException if the name of the policy is invalid
	 * @throws StoreException if the store did not answer
	 */
	boolean unblock(Identifier identifier, @Nullable String policy);

	/**
	 * Returns the blocks that have not ended, by ascending end.
	 * @throws StoreException if the store did not answer
	 */
	List<Block> blocks();

	/**
	 * Returns the same blocks, with a listener that is notified of the identifier and
	 * policy after each block, pause and unblock, even if its outcome is unknown.
	 */
	default BlockList onChange(BiConsumer<Identifier, @Nullable String> listener) {
		return new WatchedBlockList(this, listener);
	}

	/**
	 * Refuses an invalid name of a policy; {@code null} stands for all policies.
	 * @throws IllegalArgumentException if the name is invalid
	 */
	static void requireValid(@Nullable String policy) {
		if (policy != null) {
			Policy.requireName(policy);
		}
	}

	/**
	 * Refuses a time or a reason out of range.
	 * @throws IllegalArgumentException if one is
	 */
	static void requireValid(Duration time, String reason) {
		if (time.compareTo(Duration.ofMillis(1)) < 0 || time.compareTo(Limit.MAX_WINDOW) > 0) {
			throw new IllegalArgumentException(
					"Invalid time (%s): must be from 1ms to %sd.".formatted(time, Limit.MAX_WINDOW.toDays()));
		}
		if (reason.length() > MAX_REASON_LENGTH) {
			throw new IllegalArgumentException("Invalid reason (%s characters): must be at most %s."
				.formatted(reason.length(), MAX_REASON_LENGTH));
		}
	}

}
