package io.github.ratelimit;

import java.io.Serial;
import java.util.List;

/**
 * The store, where the counts are, did not answer in time or answered with an error.
 *
 * @since 0.1
 */
public class StoreException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	/** What is said of a connection by Jedis, and of a node, with its address. */
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
	 * Returns why the store failed, for people: the innermost cause, with the address,
	 * which a refused connection and a time-out do not name themselves.
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
