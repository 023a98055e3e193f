package io.github.ratelimit;

import java.io.Serial;

/**
 * Thrown when the store did not decide in time although it is not known to be down: too
 * many requests waited for it, this process was too busy to send the request or to read
 * the answer, a connection broke, or the store has been silent for less than a second.
 * Other requests may succeed. It has no stack trace, because it may be thrown often.
 */
public final class StoreBusyException extends StoreException {

	@Serial
	private static final long serialVersionUID = 1L;

	/** Creates an exception that says what failed where, as {@link StoreException}. */
	public StoreBusyException(String message, Throwable cause, String place) {
		super(message, cause, place);
	}

	@Override
	public synchronized Throwable fillInStackTrace() {
		return this;
	}

}
