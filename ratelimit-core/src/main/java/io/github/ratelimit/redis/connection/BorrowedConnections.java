package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.function.Supplier;

import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Connections of somebody else, which are given back after each batch.
 */
final class BorrowedConnections extends ConnectionSource {

	/** How long an answer to {@code PING} is waited for. */
	private static final Duration PATIENCE = Duration.ofSeconds(1);

	/** A pool may have many that the server has closed. */
	private static final int ATTEMPTS = 100;

	private final Supplier<Connection> pool;

	BorrowedConnections(Supplier<Connection> pool) {
		this.pool = pool;
	}

	@Override
	Link connect(boolean checked) {
		for (int i = 1;; i++) {
			Link link = Link.borrowed(this.pool.get());
			if (!checked) {
				return link;
			}
			try {
				link.await(PATIENCE);
				link.ping();
				return link;
			}
			catch (JedisException ex) {
				link.release();
				if (i == ATTEMPTS || isSilence(ex)) {
					throw ex;
				}
			}
		}
	}

}
