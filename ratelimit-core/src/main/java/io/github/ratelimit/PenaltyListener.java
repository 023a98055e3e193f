package io.github.ratelimit;

/**
 * Is notified of each {@link Penalty} that an identifier got, by the process whose
 * request led to it. Must be safe for use by several threads, and must not block.
 */
@FunctionalInterface
public interface PenaltyListener {

	/**
	 * Called when an identifier was denied too often.
	 * @param block the block of the identifier. If the store hashes the values of
	 * identifiers, it has the hash
	 * @param shadow whether the identifier is not blocked, because the penalty or the
	 * policy is in shadow mode
	 */
	void penalized(Block block, boolean shadow);

}
