package io.github.ratelimit;

import java.io.Serial;

/**
 * The store, where the counts are, did not answer in time or answered with an error.
 *
 * @since 0.1
 */
public class StoreException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	/**
	 * Creates an exception.
	 * @param message what was asked of the store
	 * @param cause what went wrong
	 */
	public StoreException(String message, Throwable cause) {
		super(message, cause);
	}

}
