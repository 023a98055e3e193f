package io.github.ratelimit.redis.connection;

import java.io.Serial;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * What a server has answered is no answer to what it was asked.
 */
public final class WrongReplyException extends JedisDataException {

	@Serial
	private static final long serialVersionUID = 1L;

	/**
	 * Creates an exception.
	 * @param cause why it could not be read; {@code null} if it could
	 */
	public WrongReplyException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
