package io.github.ratelimit.redis.connection;

import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

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
	 * @param rest for how many nanoseconds a borrowed connection is trusted that was not
	 * used; after that the server must answer a {@code PING}, as always on other
	 * connections
	 * @param watch is notified of silence and of what is received, but not by borrowed
	 * connections
	 * @param budget the length of a silence; how long borrowed connections wait
	 * @throws JedisException if it cannot be done, or the server does not answer; other
	 * exceptions if a pool or a source of passwords fails
	 */
	abstract Link connect(long rest, Watch watch, Duration budget);

	static final long REST = TimeUnit.SECONDS.toNanos(1);

	/**
	 * Returns how long to wait for an answer on a connection that rested, in nanoseconds,
	 * so that there is time left for a new one and for the call; 0 if the budget is too
	 * short for a {@code PING} before the call.
	 * @param roundTrip the shortest so far
	 */
	static long patience(Duration budget, long roundTrip) {
		long half = budget.toNanos() / 2;
		return (roundTrip < half) ? Math.max(half / 2, Math.min(2 * roundTrip, half)) : 0;
	}

	/** Returns how much of that may be spent before the {@code PING} is sent. */
	static long patienceBefore(long patience, long roundTrip) {
		return Math.max(0, Math.min(patience / 2, patience - 2 * roundTrip));
	}

	static boolean isSilence(@Nullable Throwable failure) {
		return failure instanceof JedisConnectionException && failure.getCause() instanceof SocketTimeoutException;
	}

	/**
	 * Returns whether a connection was silent or broke, which says little about the
	 * server until it lasts.
	 */
	static boolean isBrief(@Nullable Throwable failure) {
		if (!(failure instanceof JedisConnectionException)) {
			return false;
		}
		Throwable[] reasons = failure.getSuppressed();
		// Jedis hides what kept it from connecting, one reason for each address.
		Throwable cause = (failure.getCause() == null && reasons.length > 0) ? reasons[0] : failure.getCause();
		// Its subclasses say that no connection can be made.
		return cause == null || cause instanceof SocketTimeoutException || cause.getClass() == SocketException.class;
	}

	/** Forgets where connections lead, because the server is not the right one. */
	abstract void leave();

	/** Returns whether a thread that connects waits for the source of a login. */
	boolean awaitsLogin(Thread thread) {
		return false;
	}

	/** Waits for what is done in the background, at most until some time. */
	void disconnect(long end) {
	}

	/** Ends what threads wait for before they connect. */
	void close() {
	}

}
