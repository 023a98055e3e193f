package io.github.ratelimit.redis.connection;

import java.io.Serial;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Thrown for a reply that is no answer to the command.
 */
public final class WrongReplyException extends JedisDataException {

	@Serial
	private static final long serialVersionUID = 1L;

	public WrongReplyException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
