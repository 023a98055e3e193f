package io.github.ratelimit.redis;

import java.time.Duration;

import redis.clients.jedis.CommandObject;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.executors.CommandExecutor;
import redis.clients.jedis.providers.PooledConnectionProvider;

/**
 * Waits for a free connection no longer than until the {@link Deadline} of the thread. A
 * pool would wait as long again for each command of a decision.
 */
final class DeadlineExecutor implements CommandExecutor {

	private final PooledConnectionProvider connections;

	private final Duration budget;

	DeadlineExecutor(PooledConnectionProvider connections, Duration budget) {
		this.connections = connections;
		this.budget = budget;
	}

	@Override
	public <T> T executeCommand(CommandObject<T> command) {
		try (Connection connection = borrow((ConnectionPool) this.connections.getPool(), this.budget)) {
			return connection.executeCommand(command);
		}
	}

	/**
	 * Takes a connection, which is closed after use.
	 * @param otherwise how long one is waited for if the thread has no deadline
	 * @throws JedisException if there is none
	 */
	static Connection borrow(ConnectionPool pool, Duration otherwise) {
		try {
			Connection connection = pool.borrowObject(Deadline.remaining(otherwise));
			connection.setHandlingPool(pool);
			return connection;
		}
		catch (JedisException ex) {
			throw ex;
		}
		catch (Exception ex) {
			throw new JedisException("Could not get a connection", ex);
		}
	}

	@Override
	public void close() {
		this.connections.close();
	}

}
