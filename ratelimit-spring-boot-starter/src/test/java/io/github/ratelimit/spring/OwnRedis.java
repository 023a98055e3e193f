package io.github.ratelimit.spring;

import io.github.ratelimit.test.TestRedis;
import org.jspecify.annotations.Nullable;
import redis.embedded.RedisServer;

/** A Redis server of a test that stops, harms or counts it. */
public final class OwnRedis implements AutoCloseable {

	private final int port = TestRedis.freePort();

	private final String[] settings;

	private @Nullable RedisServer server;

	private OwnRedis(String... settings) {
		this.settings = settings;
	}

	/** Returns a server that has not been started yet. */
	public static OwnRedis stopped() {
		return new OwnRedis();
	}

	public static OwnRedis started(String... settings) {
		OwnRedis redis = new OwnRedis(settings);
		redis.start();
		return redis;
	}

	public int port() {
		return this.port;
	}

	/** Starts the server, which knows nothing of before. */
	public void start() {
		this.server = TestRedis.startServer(this.port, this.settings);
	}

	public void stop() {
		if (this.server != null) {
			TestRedis.stop(this.server);
		}
	}

	@Override
	public void close() {
		stop();
	}

}
