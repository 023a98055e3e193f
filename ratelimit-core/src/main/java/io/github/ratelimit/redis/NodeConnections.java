package io.github.ratelimit.redis;

import java.util.List;
import java.util.Set;

import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Connections to the nodes of a cluster.
 */
interface NodeConnections {

	/** Nodes that may know which node has which slot. */
	List<HostAndPort> nodes();

	/**
	 * Takes a connection, which is closed after use.
	 * @param key a Redis key that is asked for there
	 * @throws JedisException if there is none
	 */
	Connection connect(HostAndPort node, String key);

	/** A connection has failed: the others to the node are not to be relied on. */
	void failed(HostAndPort node);

	/** Only these nodes have slots. */
	void retain(Set<HostAndPort> nodes);

	void close();

}
