package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.IOUtils;

/**
 * A connection. Used by one thread at a time, except for {@link #cut()}.
 */
final class Link {

	private final Connection connection;

	private final @Nullable WatchedSocket socket;

	private final BooleanSupplier current;

	private final Runnable broken;

	private final int timeoutMillis;

	/**
	 * Creates a connection.
	 * @param socket {@code null} if it is borrowed
	 * @param current whether it still leads to the right server
	 * @param broken is run before a failed connection is released
	 */
	Link(Connection connection, @Nullable WatchedSocket socket, BooleanSupplier current, Runnable broken) {
		this.connection = connection;
		this.socket = socket;
		this.current = current;
		this.broken = broken;
		this.timeoutMillis = connection.getSoTimeout();
	}

	/**
	 * Sends commands and reads their replies.
	 * @return errors of the server as exceptions, without Redis keys
	 * @throws JedisException if the connection has failed, and must not be used again
	 */
	List<Object> exchange(List<CommandArguments> commands) {
		try {
			commands.forEach(this.connection::sendCommand);
			List<Object> replies = this.connection.getMany(commands.size());
			replies.replaceAll((reply) -> (reply instanceof JedisDataException ex) ? ErrorText.withoutKeys(ex) : reply);
			return replies;
		}
		catch (Throwable ex) {
			// What is left of a reply would answer the next call.
			this.connection.setBroken();
			if (ex instanceof JedisException || ex instanceof LinkageError) {
				throw ex;
			}
			// Jedis fails like this if the reply is no reply or has an absurd length.
			throw new WrongReplyException((ex instanceof OutOfMemoryError) ? "No memory to read the reply"
					: "Unreadable reply: is this a Redis server?", ex);
		}
	}

	/**
	 * Waits for any answer of the server, even an error.
	 * @throws JedisException if there is none
	 */
	void ping() {
		exchange(List.of(new CommandArguments(Command.PING)));
	}

	/** Sets the timeout of a borrowed connection. */
	void timeout(Duration longest) {
		if (this.socket == null) {
			this.connection.setSoTimeout(Math.toIntExact(longest.toMillis()));
		}
	}

	/**
	 * Returns whether it can be used for the next batch.
	 * @param rested whether it was idle so long that it may have been closed
	 */
	boolean isUsable(boolean rested) {
		return this.current.getAsBoolean() && !(rested && this.socket != null && this.socket.isStale());
	}

	boolean isBorrowed() {
		return this.socket == null;
	}

	/** Closes it, which makes a thread fail that reads from it. */
	void cut() {
		IOUtils.closeQuietly(this.connection::forceDisconnect);
	}

	/** Closes it, or gives it back with its former timeout. */
	void release() {
		try {
			if (!this.connection.isBroken()) {
				timeout(Duration.ofMillis(this.timeoutMillis));
			}
			else if (this.socket != null) {
				// Otherwise the rest of the commands would be sent first.
				cut();
			}
		}
		catch (RuntimeException ex) {
			this.connection.setBroken();
		}
		if (this.connection.isBroken()) {
			this.broken.run();
		}
		IOUtils.closeQuietly(this.connection);
	}

}
