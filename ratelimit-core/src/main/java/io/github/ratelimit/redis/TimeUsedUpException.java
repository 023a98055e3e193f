package io.github.ratelimit.redis;

import java.io.Serial;
import java.net.SocketTimeoutException;

/**
 * There was no time left to wait for an answer, which says nothing about who was to give
 * it.
 */
final class TimeUsedUpException extends SocketTimeoutException {

	@Serial
	private static final long serialVersionUID = 1L;

	TimeUsedUpException() {
		super("The time budget is used up");
	}

	/** Whether that is why something failed. */
	static boolean isCauseOf(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof TimeUsedUpException) {
				return true;
			}
		}
		return false;
	}

}
