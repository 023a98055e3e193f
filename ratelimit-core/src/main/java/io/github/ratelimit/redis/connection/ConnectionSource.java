package io.github.ratelimit.redis.connection;

import java.net.SocketTimeoutException;
import java.time.Duration;

import io.github.ratelimit.redis.connection.WatchedSocket.Watch;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Where the connections of a {@link Server} come from.
 */
public abstract sealed class ConnectionSource permits OwnConnections, BorrowedConnections {

	/**
	 * Connects.
	 * @param checked whether the server must have answered a {@code PING} on a borrowed
	 * connection; on others it must always
	 * @param watch is notified of silence, also during the login, and of what is
	 * received; not by connections that are borrowed
	 * @param budget the length of a silence; how long borrowed connections wait
	 * @throws JedisException if it cannot be done, or the server does not answer; other
	 * exceptions if a pool or a source of passwords fails
	 */
	abstract Link connect(boolean checked, Watch watch, Duration budget);

	/** Returns whether a connection has failed because nothing came in time. */
	static boolean isSilence(@Nullable Throwable failure) {
		return failure instanceof JedisConnectionException && failure.getCause() instanceof SocketTimeoutException;
	}

	/** Releases what the source itself holds. */
	void close() {
	}

}
