package io.github.ratelimit.outage;

import java.io.Serial;

import io.github.ratelimit.StoreException;

/**
 * The store was not asked, because it has failed too often. Without a stack trace: there
 * are many of these, and they must be quick.
 */
final class StoreNotAskedException extends StoreException {

	@Serial
	private static final long serialVersionUID = 1L;

	StoreNotAskedException(Throwable cause) {
		super("The store is not asked because it does not answer", cause);
	}

	@Override
	public synchronized Throwable fillInStackTrace() {
		return this;
	}

}
