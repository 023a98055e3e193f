package io.github.ratelimit;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Blocks identifiers by hand, for a time. A blocked identifier is denied whatever its
 * limits say; blocks are checked together with the limits, at no further round trip.
 * <p>
 * Implementations are safe for use by several threads.
 *
 * @since 0.1
 */
public interface BlockList {

	/**
	 * Longest reason, in characters.
	 */
	int MAX_REASON_LENGTH = 256;

	/**
	 * Blocks an identifier from now on; a block of the same identifier and policy is
	 * replaced.
	 * @param identifier who is blocked
	 * @param policy name of the policy to block the identifier in; {@code null} for all
	 * policies
	 * @param time for how long, at least 1 ms and at most {@link Limit#MAX_WINDOW}
	 * @param reason why, for people; may be empty, at most {@link #MAX_REASON_LENGTH}
	 * characters
	 * @return the block
	 * @throws IllegalArgumentException if the time or the reason is out of range, or the
	 * policy has no possible name
	 * @throws StoreException if the store did not answer; the block may or may not hold
	 */
	Block block(Identifier identifier, @Nullable String policy, Duration time, String reason);

	/**
	 * Ends a block.
	 * @param identifier who is blocked
	 * @param policy name of the policy of the block; {@code null} for the block in all
	 * policies
	 * @return whether there was such a block
	 * @throws IllegalArgumentException if that is no name of a policy
	 * @throws StoreException if the store did not answer; the block may or may not hold
	 */
	boolean unblock(Identifier identifier, @Nullable String policy);

	/**
	 * Returns all blocks that hold.
	 * @return the blocks, the one that ends first first
	 * @throws StoreException if the store did not answer
	 */
	List<Block> blocks();

	/**
	 * Refuses what is no possible name of a policy.
	 * @param policy name of a policy, or {@code null} for all policies
	 * @throws IllegalArgumentException if that is no name of a policy
	 */
	static void requireValid(@Nullable String policy) {
		if (policy != null) {
			Policy.requireName(policy);
		}
	}

	/**
	 * Refuses a time or a reason that is out of range.
	 * @param time for how long
	 * @param reason why
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
