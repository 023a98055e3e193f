package io.github.ratelimit.redis;

import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisMovedDataException;

/**
 * A connection of a client of one server.
 */
record SingleLink(AbstractPipeline pipeline) implements Link {

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
	public void flush() {
		// They leave when the answers are read: there is no other server to wait for.
	}

	@Override
	public void follow(JedisMovedDataException moved) {
		throw moved;
	}

}
