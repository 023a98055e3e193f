package io.github.ratelimit.redis;

import redis.clients.jedis.Connection;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A connection that is not used again after an answer that could not be read. Those of
 * Jedis are, and take what is left of it for the next answer.
 */
final class StrictConnection extends Connection {

	StrictConnection(JedisSocketFactory sockets, JedisClientConfig config) {
		super(sockets, config);
	}

	@Override
	protected Object readProtocolWithCheckingBroken() {
		try {
			return super.readProtocolWithCheckingBroken();
		}
		catch (JedisException ex) {
			throw ex;
		}
		catch (RuntimeException | OutOfMemoryError | StackOverflowError ex) {
			setBroken();
			throw UnreadableReplyException.of(ex);
		}
	}

}
