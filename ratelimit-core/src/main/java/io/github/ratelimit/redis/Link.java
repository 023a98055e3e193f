package io.github.ratelimit.redis;

import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisMovedDataException;

/**
 * A connection to the server that has the Redis keys of one slot.
 */
interface Link {

	/** Commands that travel over this connection. */
	AbstractPipeline pipeline();

	/** Lets the commands leave, and waits for nothing. */
	void flush();

	/**
	 * Goes to the node that has the slot now.
	 * @throws JedisException if there is no connection to it
	 */
	void follow(JedisMovedDataException moved);

}
