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

	private final boolean interrupted;

	/**
	 * Creates an exception.
	 * @param message what is known, for people
	 * @param cause what is wrong with the server; {@code null} if nothing is known to be:
	 * it may have answered others
	 * @param interrupted whether the thread was interrupted while it waited
	 */
	public NoAnswerException(String message, @Nullable Throwable cause, boolean interrupted) {
		super(message, cause);
		this.interrupted = interrupted;
	}

	static NoAnswerException late(boolean interrupted) {
		return new NoAnswerException(
				interrupted ? "Interrupted before it was answered" : "It was sent, and not answered in time", null,
				interrupted);
	}

	static NoAnswerException silence(JedisException cause) {
		return new NoAnswerException("It was sent, and the server has ceased to answer", cause, false);
	}

	/**
	 * Returns whether the thread was interrupted while it waited, which says nothing
	 * about the server.
	 * @return whether the time was not over
	 */
	public boolean isInterrupt() {
		return this.interrupted;
	}

	@Override
	public synchronized Throwable fillInStackTrace() {
		return this;
	}

}
