package io.github.ratelimit.redis.connection;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A connection. Used by one thread at a time, but for {@link #cut()}.
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
	 * @param current whether it leads to the right server
	 * @param broken is run before it is given back if it has failed
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
		catch (JedisException ex) {
			this.connection.setBroken();
			throw ex;
		}
		catch (RuntimeException | OutOfMemoryError | StackOverflowError ex) {
			// An answer that is none makes Jedis fail in the ways of Java, and so does a
			// length that no machine has room for. The rest would answer the next call.
			this.connection.setBroken();
			throw new WrongReplyException(
					(ex instanceof Error) ? "No memory to read the reply" : "Unreadable reply: is this a Redis server?",
					ex);
		}
	}

	/**
	 * Has the server answer something, if only with an error.
	 * @throws JedisException if it does not
	 */
	void ping() {
		exchange(List.of(new CommandArguments(Command.PING)));
	}

	/** Sets for how long an answer is waited for, if it is borrowed. */
	void await(Duration longest) {
		if (this.socket == null) {
			this.connection.setSoTimeout(Math.toIntExact(longest.toMillis()));
		}
	}

	/**
	 * Returns whether it leads to the right server.
	 * @param rested whether it was not used for a time, in which it may have been closed
	 */
	boolean isUsable(boolean rested) {
		return this.current.getAsBoolean() && !(rested && this.socket != null && this.socket.isForsaken());
	}

	boolean isBorrowed() {
		return this.socket == null;
	}

	/** Makes the thread fail that reads. */
	void cut() {
		try {
			this.connection.forceDisconnect();
		}
		catch (IOException ex) {
			// Closed in any case.
		}
	}

	/** Closes it, or gives it back as it was. */
	void release() {
		try {
			if (!this.connection.isBroken()) {
				await(Duration.ofMillis(this.timeoutMillis));
			}
			else if (this.socket != null) {
				// What is left to be sent would be sent first.
				cut();
			}
		}
		catch (RuntimeException ex) {
			this.connection.setBroken();
		}
		if (this.connection.isBroken()) {
			this.broken.run();
		}
		try {
			this.connection.close();
		}
		catch (RuntimeException ex) {
			// It is of no use any more, or its pool is closed.
		}
	}

}
