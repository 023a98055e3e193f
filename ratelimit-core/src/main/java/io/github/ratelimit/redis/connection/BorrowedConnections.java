package io.github.ratelimit.redis.connection;

import java.io.IOException;
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
			BorrowedLink link = new BorrowedLink(this.pool.get());
			if (!checked) {
				return link;
			}
			try {
				link.connection().setSoTimeout(Math.toIntExact(PATIENCE.toMillis()));
				return checked(link);
			}
			catch (JedisException ex) {
				if (i == ATTEMPTS || isSilence(ex)) {
					throw ex;
				}
			}
		}
	}

	private static final class BorrowedLink extends Link {

		private final int timeoutMillis;

		BorrowedLink(Connection connection) {
			super(connection);
			this.timeoutMillis = connection.getSoTimeout();
		}

		@Override
		void doWatch(WatchedSocket.Watch watch, Duration budget) {
			connection().setSoTimeout(Math.toIntExact(budget.toMillis()));
		}

		@Override
		boolean isUsable(boolean rested) {
			return true;
		}

		@Override
		boolean isBorrowed() {
			return true;
		}

		@Override
		void cut() {
			try {
				connection().forceDisconnect();
			}
			catch (IOException ex) {
				// Closed in any case.
			}
		}

		@Override
		void release() {
			try {
				connection().setSoTimeout(this.timeoutMillis);
			}
			catch (JedisException ex) {
				// It is broken.
			}
			super.release();
		}

	}

}
