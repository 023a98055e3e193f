package io.github.ratelimit.redis;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionFactory;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Connections to one node. Other pools replace one that has failed when it is returned:
 * that takes the time that whoever returns it needs for other nodes, and fails if the
 * node is gone.
 */
final class NodePool extends ConnectionPool {

	private static final Logger logger = LoggerFactory.getLogger(NodePool.class);

	NodePool(ConnectionFactory connections, ConnectionPoolConfig config) {
		super(connections, config);
	}

	/** Only for somebody who waits for it, and would not make one any more. */
	@Override
	public void addObject() throws Exception {
		if (getNumWaiters() > 0) {
			super.addObject();
		}
	}

	@Override
	public void returnBrokenResource(Connection connection) {
		try {
			super.returnBrokenResource(connection);
		}
		catch (JedisException ex) {
			// It is closed, which is all that was asked for.
			logger.debug("A connection that has failed could not be replaced", ex);
		}
	}

}
