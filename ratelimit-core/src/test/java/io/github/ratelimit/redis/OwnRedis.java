package io.github.ratelimit.redis;

import java.net.URI;

import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.TestRedis;
import redis.clients.jedis.UnifiedJedis;
import redis.embedded.RedisServer;

/**
 * A server of a test's own, which the test may stop, fill or harm.
 */
public final class OwnRedis implements AutoCloseable {

	private final int port = TestRedis.freePort();

	private RedisServer server;

	private final UnifiedJedis jedis;

	public OwnRedis(String... settings) {
		this.server = TestRedis.startServer(this.port, settings);
		this.jedis = JedisClients.create("127.0.0.1", this.port);
	}

	public int port() {
		return this.port;
	}

	public UnifiedJedis jedis() {
		return this.jedis;
	}

	public URI uri() {
		return URI.create("redis://127.0.0.1:" + this.port);
	}

	RedisConnections connect(String login) {
		return TestRedis.connections(URI.create("redis://" + login + "127.0.0.1:" + this.port)).build();
	}

	public void stop() {
		TestRedis.stop(this.server);
	}

	/** Starts it again, without the settings. */
	public void start() {
		this.server = TestRedis.startServer(this.port);
	}

	@Override
	public void close() {
		this.jedis.close();
		stop();
	}

}
