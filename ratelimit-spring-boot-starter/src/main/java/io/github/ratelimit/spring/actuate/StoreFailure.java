package io.github.ratelimit.spring.actuate;

import io.github.ratelimit.StoreException;

import org.springframework.core.NestedExceptionUtils;

/**
 * Why a store failed, for people.
 */
final class StoreFailure {

	private StoreFailure() {
	}

	/** With the address, which a refused connection does not name itself. */
	static String cause(StoreException ex) {
		Throwable root = NestedExceptionUtils.getMostSpecificCause(ex);
		String message = (ex.getCause() != null) ? String.valueOf(ex.getCause().getMessage()) : "";
		return message.startsWith("Failed to connect to ") ? message + ": " + root : root.toString();
	}

}
