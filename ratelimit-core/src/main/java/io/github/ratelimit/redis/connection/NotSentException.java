package io.github.ratelimit.redis.connection;

import java.io.Serial;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A call was not sent, and never will be, so that it has no effect. Without a stack
 * trace, because there may be many.
 */
public final class NotSentException extends JedisException {

	@Serial
	private static final long serialVersionUID = 1L;

	/** Why a call was not sent. */
	public enum Reason {

		/** Its time was over before it was its turn. */
		TOO_LATE,

		/** Too many others wait already. */
		QUEUE_FULL,

		/** The server does not answer, or cannot be connected to. */
		OUTAGE

	}

	private final Reason reason;

	/**
	 * Creates an exception.
	 * @param cause what is wrong with the server; {@code null} if nothing is known to be
	 */
	public NotSentException(Reason reason, String message, @Nullable Throwable cause) {
		super(message, cause);
		this.reason = reason;
	}

	static NotSentException late() {
		return new NotSentException(Reason.TOO_LATE, "It was not sent in time", null);
	}

	static NotSentException outage(JedisException cause) {
		return new NotSentException(Reason.OUTAGE, "It was not sent, as the server does not answer", cause);
	}

	/** Returns why the call was not sent. */
	public Reason reason() {
		return this.reason;
	}

	@Override
	public synchronized Throwable fillInStackTrace() {
		return this;
	}

}
