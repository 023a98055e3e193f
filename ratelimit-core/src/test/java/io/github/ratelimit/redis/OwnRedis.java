package io.github.ratelimit.redis;

import java.net.URI;

import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.TestRedis;
import redis.clients.jedis.UnifiedJedis;
import redis.embedded.RedisServer;

/**
 * A server of a test's own, which the test may stop, fill or harm.
 */
final class OwnRedis implements AutoCloseable {

	private final int port = TestRedis.freePort();

	private final RedisServer server;

	private final UnifiedJedis jedis;

	OwnRedis(String... settings) {
		this.server = TestRedis.startServer(this.port, settings);
		this.jedis = JedisClients.create("127.0.0.1", this.port);
	}

	int port() {
		return this.port;
	}

	UnifiedJedis jedis() {
		return this.jedis;
	}

	URI uri() {
		return URI.create("redis://127.0.0.1:" + this.port);
	}

	/** Connections of a user, who may be nobody. */
	RedisConnections connect(String login) {
		return TestRedis.connections(URI.create("redis://" + login + "127.0.0.1:" + this.port)).build();
	}

	@Override
	public void close() {
		this.jedis.close();
		TestRedis.stop(this.server);
	}

}
