package io.github.ratelimit.redis.connection;

import java.io.Serial;

import redis.clients.jedis.exceptions.JedisException;

/**
 * An answer could not be read to its end. What is left of it would be taken for the next
 * one, so its connection is not used again.
 */
public final class UnreadableReplyException extends JedisException {

	@Serial
	private static final long serialVersionUID = 1L;

	private UnreadableReplyException(String message, Throwable cause) {
		super(message, cause);
	}

	/**
	 * Returns why reading has failed. An answer that is none makes Jedis fail in the ways
	 * of Java, and so does a length that no machine has room for, because Jedis makes the
	 * room before it reads.
	 */
	static JedisException of(Throwable ex) {
		if (ex instanceof JedisException failure) {
			return failure;
		}
		return new UnreadableReplyException(
				(ex instanceof Error) ? "No memory to read the reply" : "Unreadable reply: is this a Redis server?",
				ex);
	}

}
