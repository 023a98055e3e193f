package io.github.ratelimit;

import java.io.Serial;

/**
 * Thrown when the store did not answer in time or answered with an error.
 */
public class StoreException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String place;

	/**
	 * Creates an exception.
	 * @param message what was asked of the store
	 * @param cause what went wrong
	 */
	public StoreException(String message, Throwable cause) {
		this(message, cause, "");
	}

	/**
	 * Creates an exception.
	 * @param message what was asked of the store
	 * @param cause what went wrong
	 * @param place what failed where, such as the address of a server that the innermost
	 * cause does not name; may be empty
	 */
	public StoreException(String message, Throwable cause, String place) {
		super(message, cause);
		this.place = place;
	}

	/**
	 * Returns why the store failed, in one line for people: the message of the innermost
	 * cause, and before that the place, which is missing in the messages of refused
	 * connections and timeouts.
	 */
	public String reason() {
		Throwable root = this;
		while (root.getCause() != null) {
			root = root.getCause();
		}
		return this.place.isEmpty() ? root.toString() : this.place + ": " + root;
	}

}
