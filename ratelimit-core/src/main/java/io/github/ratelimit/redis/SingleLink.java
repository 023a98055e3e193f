package io.github.ratelimit.redis;

import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisMovedDataException;

/**
 * A connection of a client of one server.
 */
final class SingleLink implements Link {

	private final AbstractPipeline pipeline;

	private boolean watching;

	private SingleLink(AbstractPipeline pipeline) {
		this.pipeline = pipeline;
	}

	static SingleLink of(UnifiedJedis jedis) {
		AbstractPipeline pipeline = jedis.pipelined();
		if (!(pipeline instanceof Pipeline)) {
			pipeline.close();
			throw new IllegalArgumentException("Invalid client (%s): its pipelines must keep to one connection."
				.formatted(jedis.getClass().getSimpleName()));
		}
		return new SingleLink(pipeline);
	}

	@Override
	public AbstractPipeline pipeline() {
		return this.pipeline;
	}

	@Override
	public void flush() {
		// They leave when the answers are read: there is no other server to wait for.
	}

	@Override
	public boolean isWatching() {
		return this.watching;
	}

	@Override
	public void setWatching(boolean watching) {
		this.watching = watching;
	}

	@Override
	public void follow(JedisMovedDataException moved) {
		throw moved;
	}

	@Override
	public void close() {
		Link.giveBack(this.pipeline, this.watching);
	}

}
