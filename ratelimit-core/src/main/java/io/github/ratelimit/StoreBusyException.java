package io.github.ratelimit;

import java.io.Serial;

/**
 * Thrown when the store did not decide in time although it does not seem to be down: too
 * many requests waited for it, or this process was too busy to send the request or to
 * read the answer. Other requests may succeed. It has no stack trace, because it may be
 * thrown often.
 *
 * @since 0.1
 */
public final class StoreBusyException extends StoreException {

	@Serial
	private static final long serialVersionUID = 1L;

	/**
	 * Creates an exception.
	 * @param message what was asked of the store
	 * @param cause why the store did not decide in time
	 */
	public StoreBusyException(String message, Throwable cause) {
		super(message, cause);
	}

	@Override
	public synchronized Throwable fillInStackTrace() {
		return this;
	}

}
