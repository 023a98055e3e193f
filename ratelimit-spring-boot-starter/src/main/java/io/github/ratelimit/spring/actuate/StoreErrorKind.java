package io.github.ratelimit.spring.actuate;

import java.net.SocketTimeoutException;
import java.util.Locale;
import java.util.NoSuchElementException;

import io.github.ratelimit.StoreException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * What can go wrong with a store: few enough words for a tag.
 */
enum StoreErrorKind {

	/** The store did not answer in time, or did not accept the connection in time. */
	TIMEOUT,

	/** There was no connection to be had in time, because others had them all. */
	POOL_EXHAUSTED,

	/** The store answered with an error. */
	ERROR_REPLY,

	/** There was no connection, or it broke. */
	CONNECTION,

	/** Anything else. */
	OTHER;

	static StoreErrorKind of(StoreException exception) {
		boolean connection = false;
		for (Throwable cause = exception.getCause(); cause != null; cause = cause.getCause()) {
			if (cause instanceof SocketTimeoutException) {
				return TIMEOUT;
			}
			if (cause instanceof NoSuchElementException) {
				return POOL_EXHAUSTED;
			}
			if (cause instanceof JedisDataException) {
				return ERROR_REPLY;
			}
			connection |= cause instanceof JedisConnectionException;
		}
		return connection ? CONNECTION : OTHER;
	}

	String text() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
