package io.github.ratelimit.redis.connection;

/**
 * The server, or the nodes of a cluster, that have the Redis keys. Safe for use by
 * several threads.
 */
public interface Servers extends AutoCloseable {

	/**
	 * Returns the slot of a Redis key. One command can use Redis keys of one slot only.
	 * @param key the Redis key
	 * @return a number; the same for all Redis keys if there is one server
	 */
	int slot(byte[] key);

	/**
	 * Returns whether Redis keys may be on different slots.
	 * @return whether this is a cluster
	 */
	default boolean haveSlots() {
		return false;
	}

	/**
	 * Hands a call over, and does not wait. If it cannot be sent, the call has failed
	 * when this returns.
	 * @param call a call that was not handed over before
	 */
	void submit(Call call);

	/** Closes all connections, and fails all calls that wait. */
	@Override
	void close();

}
