package io.github.ratelimit.redis.connection;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A connection. Used by one thread at a time, but for {@link #cut()}.
 */
abstract class Link {

	private final Connection connection;

	Link(Connection connection) {
		this.connection = connection;
	}

	final Connection connection() {
		return this.connection;
	}

	/**
	 * Sends commands and reads their replies.
	 * @return errors of the server as exceptions
	 * @throws JedisException if the connection has failed, and must not be used again
	 */
	final List<Object> exchange(List<CommandArguments> commands) {
		try {
			begin();
			commands.forEach(this.connection::sendCommand);
			return this.connection.getMany(commands.size());
		}
		catch (RuntimeException | OutOfMemoryError | StackOverflowError ex) {
			this.connection.setBroken();
			throw UnreadableReplyException.of(ex);
		}
	}

	/**
	 * Has the server answer something, if only with an error.
	 * @throws JedisException if it does not, and the connection must not be used again
	 */
	final void ping() {
		exchange(List.of(new CommandArguments(Command.PING)));
	}

	/**
	 * Sets for how long an answer is waited for.
	 * @param watch learns of silence; not all connections can tell it
	 * @throws JedisException if the connection has failed
	 */
	final void watch(WatchedSocket.Watch watch, Duration budget) {
		try {
			doWatch(watch, budget);
		}
		catch (IOException ex) {
			throw new JedisConnectionException(ex);
		}
	}

	abstract void doWatch(WatchedSocket.Watch watch, Duration budget) throws IOException;

	/** Begins to wait for an answer. */
	void begin() {
	}

	/**
	 * Returns whether it leads to the right server.
	 * @param rested whether it was not used for a time, in which it may have been closed
	 */
	abstract boolean isUsable(boolean rested);

	/** Returns whether it is released after each batch. */
	abstract boolean isBorrowed();

	/** Makes the thread fail that reads. */
	abstract void cut();

	/** Closes it, or gives it back. */
	void release() {
		try {
			this.connection.close();
		}
		catch (RuntimeException ex) {
			// It is of no use any more, or its pool is closed.
		}
	}

}
