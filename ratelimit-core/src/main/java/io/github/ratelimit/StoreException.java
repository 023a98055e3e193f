package io.github.ratelimit;

import java.io.Serial;
import java.util.List;

/**
 * Thrown when the store did not answer in time or answered with an error.
 *
 * @since 0.1
 */
public class StoreException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	/** Prefixes of messages that contain the address of the server. */
	private static final List<String> WITH_ADDRESS = List.of("Failed to connect to ", "The node ");

	/**
	 * Creates an exception.
	 * @param message what was asked of the store
	 * @param cause what went wrong
	 */
	public StoreException(String message, Throwable cause) {
		super(message, cause);
	}

	/**
	 * Returns why the store failed, for people: the message of the innermost cause. It
	 * includes the address, which is missing in the messages of refused connections and
	 * timeouts.
	 * @return one line
	 */
	public String reason() {
		Throwable root = this;
		String address = "";
		while (root.getCause() != null) {
			root = root.getCause();
			String message = String.valueOf(root.getMessage());
			if (root.getCause() != null && WITH_ADDRESS.stream().anyMatch(message::startsWith)) {
				address = message + ": ";
			}
		}
		return address + root;
	}

}
