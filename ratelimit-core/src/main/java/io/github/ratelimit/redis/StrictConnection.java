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

	/** One that is connected. */
	private StrictConnection(JedisSocketFactory sockets, JedisClientConfig config) {
		super(sockets, config);
	}

	/** One that is to be connected. */
	private StrictConnection(Builder builder) {
		super(builder);
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

	/** Makes them in the ways of two versions of Jedis. */
	static final class Builder extends Connection.Builder {

		Builder(JedisSocketFactory sockets, JedisClientConfig config) {
			socketFactory(sockets).clientConfig(config);
		}

		/** What Jedis 7 asks for. */
		@Override
		public Connection build() {
			return new StrictConnection(getSocketFactory(), getClientConfig());
		}

		/**
		 * What Jedis 8 asks for instead, and connects itself. There is none to override
		 * in Jedis 7.
		 */
		protected Connection createConnection() {
			return new StrictConnection(this);
		}

	}

}
