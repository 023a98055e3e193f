package io.github.ratelimit.redis.connection;

/**
 * The server, or the nodes of a cluster, that have the Redis keys. Safe for use by
 * several threads.
 */
public interface Servers extends AutoCloseable {

	/** Returns the slot of a Redis key. All Redis keys of a command must share one. */
	default int slot(byte[] key) {
		return 0;
	}

	/** Returns whether Redis keys may have different slots. */
	default boolean haveSlots() {
		return false;
	}

	/** Submits a new call without waiting for it. A call that cannot be sent fails. */
	void submit(Call call);

	/**
	 * Closes all connections and ends all threads that have nothing to do; the next call
	 * connects again. Waits for that, for a few seconds at most.
	 */
	default void disconnect() {
	}

	/** Closes all connections, and fails all calls that wait. */
	@Override
	void close();

}
