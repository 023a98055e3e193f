package io.github.ratelimit.redis.connection;

import java.io.Serial;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Thrown for a call without an answer. It has no stack trace, because there may be many.
 */
public final class CallException extends JedisException {

	@Serial
	private static final long serialVersionUID = 1L;

	/** Why a call has no answer. */
	public enum Reason {

		/** Its deadline passed before its turn. It was not sent, and never will be. */
		TOO_LATE,

		/** Too many others wait. It was not sent, and never will be. */
		QUEUE_FULL,

		/** The server does not answer. The call was not sent, and never will be. */
		OUTAGE,

		/** It was sent, and may have had an effect. Others may have been answered. */
		UNANSWERED,

		/** It was sent, and may have had an effect. Nobody is answered. */
		SILENCE,

		/** A node failed while others answer. The cause tells whether it was sent. */
		NODE

	}

	private final Reason reason;

	public CallException(Reason reason, String message, @Nullable Throwable cause) {
		super(message, cause);
		this.reason = reason;
	}

	static CallException outage(JedisException cause) {
		return new CallException(Reason.OUTAGE, "It was not sent, because the server does not answer", cause);
	}

	static CallException silence(JedisException cause) {
		return new CallException(Reason.SILENCE, "It was sent, and the server has stopped answering", cause);
	}

	static CallException late(boolean sent) {
		return sent ? new CallException(Reason.UNANSWERED, "It was sent, but not answered in time", null)
				: new CallException(Reason.TOO_LATE, "It was not sent in time", null);
	}

	public Reason reason() {
		return this.reason;
	}

	/**
	 * Returns whether nothing is known but that the server was silent, or connections
	 * broke, for a time in which this process or the server may have waited for a
	 * processor.
	 */
	public boolean isBrief() {
		return ConnectionSource.isBrief(getCause());
	}

	@Override
	public synchronized Throwable fillInStackTrace() {
		return this;
	}

}
