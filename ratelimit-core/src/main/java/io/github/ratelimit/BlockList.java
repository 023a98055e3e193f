package io.github.ratelimit;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Blocks identifiers manually, for a time, and lists all blocks, also those that a
 * {@link Penalty} has made. Requests of a blocked identifier are denied regardless of
 * their limits. Blocks are checked together with the limits, without another round trip.
 * <p>
 * Implementations must be safe for use by several threads.
 *
 * @since 0.1
 */
public interface BlockList {

	/**
	 * Longest reason, in characters.
	 */
	int MAX_REASON_LENGTH = 256;

	/**
	 * Blocks an identifier from now on. This replaces a block of the same identifier and
	 * policy.
	 * @param identifier the identifier to block
	 * @param policy name of the policy to block the identifier in; {@code null} for all
	 * policies
	 * @param time how long to block, at least 1 ms and at most {@link Limit#MAX_WINDOW}
	 * @param reason the reason, for people; may be empty, at most
	 * {@link #MAX_REASON_LENGTH} characters
	 * @return the block
	 * @throws IllegalArgumentException if the time, the reason or the name of the policy
	 * is invalid
	 * @throws StoreException if the store did not answer; the identifier may or may not
	 * be blocked
	 */
	Block block(Identifier identifier, @Nullable String policy, Duration time, String reason);

	/**
	 * Ends a block.
	 * @param identifier the blocked identifier
	 * @param policy name of the policy of the block; {@code null} for the block in all
	 * policies
	 * @return whether there was such a block
	 * @throws IllegalArgumentException if the name of the policy is invalid
	 * @throws StoreException if the store did not answer; the identifier may or may not
	 * be blocked
	 */
	boolean unblock(Identifier identifier, @Nullable String policy);

	/**
	 * Returns the blocks that have not ended.
	 * @return the blocks, by ascending end
	 * @throws StoreException if the store did not answer
	 */
	List<Block> blocks();

	/**
	 * Refuses an invalid name of a policy.
	 * @param policy name of a policy, or {@code null} for all policies
	 * @throws IllegalArgumentException if the name is invalid
	 */
	static void requireValid(@Nullable String policy) {
		if (policy != null) {
			Policy.requireName(policy);
		}
	}

	/**
	 * Refuses a time or a reason that is out of range.
	 * @param time how long to block
	 * @param reason the reason
	 * @throws IllegalArgumentException if one of them is out of range
	 */
	static void requireValid(Duration time, String reason) {
		if (time.compareTo(Duration.ofMillis(1)) < 0 || time.compareTo(Limit.MAX_WINDOW) > 0) {
			throw new IllegalArgumentException(
					"Invalid time (%s): must be from 1ms to %dd.".formatted(time, Limit.MAX_WINDOW.toDays()));
		}
		if (reason.length() > MAX_REASON_LENGTH) {
			throw new IllegalArgumentException("Invalid reason (%d characters): must be at most %d."
				.formatted(reason.length(), MAX_REASON_LENGTH));
		}
	}

}
