package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.List;
import java.util.function.LongPredicate;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisCredentials;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.IOUtils;

/**
 * A connection. Used by one thread at a time, except for {@link #cut()}.
 */
final class Link {

	private final Connection connection;

	private final @Nullable WatchedSocket socket;

	private final LongPredicate current;

	private final Runnable broken;

	private final int timeoutMillis;

	private long roundTrip = Long.MAX_VALUE;

	private @Nullable Login login;

	private @Nullable RedisCredentials used;

	/**
	 * @param socket {@code null} if it is borrowed
	 * @param current whether it still leads to the right server, given how many
	 * nanoseconds there are to find out
	 * @param broken is run before a failed connection is released
	 */
	Link(Connection connection, @Nullable WatchedSocket socket, LongPredicate current, Runnable broken) {
		this.connection = connection;
		this.socket = socket;
		this.current = current;
		this.broken = broken;
		this.timeoutMillis = connection.getSoTimeout();
	}

	/** Logs in again whenever the login changes. */
	Link renewedBy(Login login, RedisCredentials used) {
		this.login = login;
		this.used = used;
		return this;
	}

	/**
	 * Returns errors of the server as exceptions. After an exception the connection must
	 * not be used again.
	 */
	List<Object> exchange(List<CommandArguments> commands) {
		long start = System.nanoTime();
		try {
			commands.forEach(this.connection::sendCommand);
			List<Object> replies = this.connection.getMany(commands.size());
			this.roundTrip = Math.min(this.roundTrip, System.nanoTime() - start);
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

	void ping() {
		exchange(List.of(new CommandArguments(Command.PING)));
	}

	/** Sets the timeout of a borrowed connection, at least a millisecond. */
	void timeout(Duration longest) {
		if (this.socket == null) {
			// None would be for ever.
			this.connection.setSoTimeout(Math.toIntExact(Math.max(1, longest.toMillis())));
		}
	}

	long roundTrip() {
		return this.roundTrip;
	}

	/**
	 * Verifies that an own connection can be used, which may be closed or forgotten if it
	 * rested. Logs in again if the login has changed.
	 */
	boolean verify(long now, boolean rested, Duration budget) {
		long patience = rested ? ConnectionSource.patience(budget, this.roundTrip) : 0;
		long end = System.nanoTime() + patience;
		boolean usable = this.current.test(ConnectionSource.patienceBefore(patience, this.roundTrip))
				&& (!rested || this.socket == null || answers(this.socket, patience > 0, end));
		if (usable && this.login != null) {
			this.used = this.login.renew(this.connection, this.used, now);
		}
		return usable && !this.connection.isBroken();
	}

	private boolean answers(WatchedSocket socket, boolean patient, long end) {
		if (socket.readEnd()) {
			return false;
		}
		if (patient) {
			socket.answerUntil(end);
			try {
				ping();
			}
			catch (JedisException ex) {
				return false;
			}
			socket.answerUntil(null);
		}
		return true;
	}

	/** Makes sure that nobody uses it again after its release. */
	void end() {
		this.connection.setBroken();
	}

	boolean isBorrowed() {
		return this.socket == null;
	}

	/** Closes it, which makes a thread fail that reads from it. */
	void cut() {
		IOUtils.closeQuietly(this.connection::forceDisconnect);
	}

	void release() {
		try {
			if (this.connection.isBroken()) {
				if (this.socket != null) {
					// Otherwise the rest of the commands would be sent first.
					cut();
				}
			}
			else if (this.socket == null) {
				this.connection.setSoTimeout(this.timeoutMillis);
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
