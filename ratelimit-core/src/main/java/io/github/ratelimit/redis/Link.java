package io.github.ratelimit.redis;

import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisMovedDataException;

/**
 * The way to the server that has the Redis keys of one slot. Slots of one decision that
 * are on the same server share a connection.
 */
interface Link extends AutoCloseable {

	/**
	 * Commands that travel over the connection.
	 * @throws JedisException if there is none any more
	 */
	AbstractPipeline pipeline();

	/** Lets the commands leave, and waits for nothing. */
	void flush();

	/** Whether the connection watches Redis keys, be it those of another slot. */
	boolean isWatching();

	void setWatching(boolean watching);

	/**
	 * Goes to the node that has the slot now.
	 * @throws JedisException if there is no connection to it
	 */
	void follow(JedisMovedDataException moved);

	/** Returns the connection, if no other slot of the decision needs it. */
	@Override
	void close();

	/**
	 * Returns a connection, which must not be watching anything: another user's
	 * transaction would suffer.
	 */
	static void giveBack(AbstractPipeline connection, boolean watching) {
		try (connection) {
			if (watching) {
				connection.sendCommand(Command.UNWATCH, new String[0]);
			}
		}
	}

}
