package io.github.ratelimit.redis;

import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisMovedDataException;

/**
 * A connection to a node of a cluster.
 */
final class NodeLink implements Link {

	private final NodeConnections nodes;

	private final Topology topology;

	private final String key;

	private Connection connection;

	private Pipeline pipeline;

	NodeLink(NodeConnections nodes, Topology topology, String key) {
		this.nodes = nodes;
		this.topology = topology;
		this.key = key;
		this.connection = connect(topology.node(key));
		this.pipeline = pipeline(this.connection);
	}

	private Connection connect(HostAndPort node) {
		try {
			return this.nodes.connect(node, this.key);
		}
		catch (JedisConnectionException ex) {
			this.topology.failed(node);
			throw ex;
		}
	}

	/**
	 * One that knows what has failed when it is closed, and does not use a connection
	 * again after an answer that cannot be read.
	 */
	private Pipeline pipeline(Connection connection) {
		return new Pipeline(connection, true) {

			@Override
			public void sync() {
				try {
					super.sync();
				}
				catch (RuntimeException | OutOfMemoryError | StackOverflowError ex) {
					connection.setBroken();
					throw ex;
				}
			}

			@Override
			public void close() {
				try {
					super.close();
				}
				finally {
					if (connection.isBroken()) {
						NodeLink.this.topology.changed();
					}
				}
			}

		};
	}

	@Override
	public Pipeline pipeline() {
		return this.pipeline;
	}

	@Override
	public void flush() {
		this.connection.getMany(0);
	}

	@Override
	public void follow(JedisMovedDataException moved) {
		this.topology.changed();
		this.pipeline.close();
		this.connection = connect(moved.getTargetNode());
		this.pipeline = pipeline(this.connection);
	}

}
