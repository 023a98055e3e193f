package io.github.ratelimit.redis;

import redis.clients.jedis.exceptions.JedisException;

/**
 * An answer that Jedis could not read to its end: what is left of it would be taken for
 * the next one.
 */
@SuppressWarnings("serial")
final class UnreadableReplyException extends JedisException {

	private UnreadableReplyException(Throwable cause) {
		super("Unreadable reply: is this a Redis server?", cause);
	}

	/**
	 * Returns why a client failed. Lengths and addresses that are none make Jedis fail in
	 * the ways of Java, and so do lengths that no machine has room for, because Jedis
	 * makes the room before it reads. Where there is no room for an answer, there may be
	 * for everything else, so that is a failure of the store, and not of the request.
	 * @return the exception itself if it is one of Jedis
	 */
	static JedisException of(Throwable ex) {
		if (ex instanceof JedisException failure) {
			return failure;
		}
		if (ex instanceof NegativeArraySizeException || ex instanceof IllegalArgumentException
				|| ex instanceof IndexOutOfBoundsException || ex instanceof ClassCastException
				|| ex instanceof OutOfMemoryError || ex instanceof StackOverflowError) {
			return new UnreadableReplyException(ex);
		}
		return new JedisException("The client failed", ex);
	}

}
