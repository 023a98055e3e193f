package io.github.ratelimit.redis.connection;

import java.io.Serial;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A call was sent, and was not answered in time: it is not known whether it had an
 * effect. Without a stack trace, because there may be many.
 */
public final class NoAnswerException extends JedisException {

	@Serial
	private static final long serialVersionUID = 1L;

	/**
	 * Creates an exception.
	 * @param cause what is wrong with the server; {@code null} if nothing is known to be:
	 * it may have answered others
	 */
	public NoAnswerException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

	static NoAnswerException late() {
		return new NoAnswerException("It was sent, and not answered in time", null);
	}

	static NoAnswerException silence(JedisException cause) {
		return new NoAnswerException("It was sent, and the server has ceased to answer", cause);
	}

	@Override
	public synchronized Throwable fillInStackTrace() {
		return this;
	}

}
