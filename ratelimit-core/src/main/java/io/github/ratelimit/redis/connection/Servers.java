package io.github.ratelimit.redis.connection;

/**
 * The server, or the nodes of a cluster, that have the Redis keys. Safe for use by
 * several threads.
 */
public interface Servers extends AutoCloseable {

	/**
	 * Returns the slot of a Redis key: the same for all if there is one server. One
	 * command can use Redis keys of one slot only.
	 */
	int slot(byte[] key);

	/**
	 * Returns whether this is a cluster, so that Redis keys may be on different slots.
	 */
	default boolean haveSlots() {
		return false;
	}

	/** Hands a new call over, and does not wait. What cannot be sent has failed then. */
	void submit(Call call);

	/** Closes all connections, and fails all calls that wait. */
	@Override
	void close();

}
