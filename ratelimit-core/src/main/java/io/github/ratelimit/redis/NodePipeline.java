package io.github.ratelimit.redis;

import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A connection of one decision to a node, which its slots share that are there. It knows
 * what has failed when it is closed, and is not used again after an answer that cannot be
 * read.
 */
final class NodePipeline extends Pipeline {

	private final HostAndPort node;

	private final Connection connection;

	private final Topology topology;

	private boolean watching;

	/** How many slots need it. */
	private int users;

	NodePipeline(HostAndPort node, Connection connection, Topology topology) {
		super(connection, true);
		this.node = node;
		this.connection = connection;
		this.topology = topology;
	}

	HostAndPort node() {
		return this.node;
	}

	boolean isWatching() {
		return this.watching;
	}

	void setWatching(boolean watching) {
		this.watching = watching;
	}

	/** One more slot needs it. */
	NodePipeline join() {
		this.users++;
		return this;
	}

	/**
	 * One slot less needs it.
	 * @return whether none does any more
	 */
	boolean leave() {
		this.users--;
		return this.users == 0;
	}

	/** Lets the commands leave, and waits for nothing. */
	void flush() {
		use(() -> this.connection.getMany(0));
	}

	@Override
	public void sync() {
		if (hasPipelinedResponse()) {
			use(super::sync);
			this.topology.answered(this.node);
		}
	}

	private void use(Runnable use) {
		boolean known = this.connection.isBroken();
		try {
			use.run();
		}
		catch (RuntimeException | OutOfMemoryError | StackOverflowError ex) {
			this.connection.setBroken();
			JedisException failure = UnreadableReplyException.of(ex);
			throw known ? failure : this.topology.failed(this.node, failure);
		}
	}

	@Override
	public void close() {
		try {
			super.close();
		}
		finally {
			if (this.connection.isBroken()) {
				this.topology.changed();
			}
		}
	}

}
