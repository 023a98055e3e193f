package io.github.ratelimit.redis;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisMovedDataException;

/**
 * The way to the node of a cluster that has a slot.
 */
final class NodeLink implements Link {

	private final NodeLinks links;

	private final String key;

	/** Is no longer there once it was returned. */
	private @Nullable NodePipeline pipeline;

	/**
	 * Creates a link.
	 * @param links those of all slots of the decision
	 * @param key a Redis key of the slot
	 */
	NodeLink(NodeLinks links, String key, NodePipeline pipeline) {
		this.links = links;
		this.key = key;
		this.pipeline = pipeline;
	}

	@Override
	public NodePipeline pipeline() {
		if (this.pipeline == null) {
			throw new JedisException("There is no connection to the node that has the slot");
		}
		return this.pipeline;
	}

	@Override
	public void flush() {
		pipeline().flush();
	}

	@Override
	public boolean isWatching() {
		return this.pipeline != null && this.pipeline.isWatching();
	}

	@Override
	public void setWatching(boolean watching) {
		pipeline().setWatching(watching);
	}

	@Override
	public void follow(JedisMovedDataException moved) {
		this.links.changed();
		HostAndPort target = moved.getTargetNode();
		HostAndPort node = Slots.address(target.getHost(), target.getPort(), pipeline().node());
		// First, because others may wait for it at the other node.
		close();
		this.pipeline = this.links.join(node, this.key);
	}

	@Override
	public void close() {
		NodePipeline left = this.pipeline;
		if (left != null) {
			this.pipeline = null;
			this.links.leave(left);
		}
	}

}
