package io.github.ratelimit.redis.connection;

import java.util.Set;

import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.providers.SentineledConnectionProvider;

/**
 * Knows from sentinels which server is the master. They are asked whenever a background
 * thread connects, until one has answered; from then on Jedis watches them. The pool of
 * Jedis is not used, so it makes no connections.
 */
final class SentinelMaster {

	private final String name;

	private final Set<HostAndPort> sentinels;

	private final JedisClientConfig config;

	private volatile @Nullable SentineledConnectionProvider watch;

	private volatile boolean closed;

	SentinelMaster(String name, Set<HostAndPort> sentinels, JedisClientConfig config) {
		this.name = name;
		this.sentinels = Set.copyOf(sentinels);
		this.config = config;
	}

	/**
	 * Returns the current master.
	 * @throws JedisConnectionException if no sentinel names it
	 */
	HostAndPort get() {
		SentineledConnectionProvider watch = this.watch;
		return ((watch != null) ? watch : ask()).getCurrentMaster();
	}

	private synchronized SentineledConnectionProvider ask() {
		SentineledConnectionProvider asked = this.watch;
		if (asked == null) {
			try {
				asked = new SentineledConnectionProvider(this.name, this.config, new GenericObjectPoolConfig<>(),
						this.sentinels, this.config);
			}
			catch (JedisException ex) {
				throw new JedisConnectionException(
						"None of the sentinels %s has named the master %s".formatted(this.sentinels, this.name), ex);
			}
			this.watch = asked;
			if (this.closed) {
				// It was closed while they were asked.
				asked.close();
			}
		}
		return asked;
	}

	void close() {
		this.closed = true;
		SentineledConnectionProvider watch = this.watch;
		if (watch != null) {
			watch.close();
		}
	}

}
