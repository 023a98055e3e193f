package io.github.ratelimit.redis.connection;

import java.time.Duration;

import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;

/**
 * Connects to servers of tests.
 */
final class Connecting {

	private Connecting() {
	}

	static Server to(int port, Duration budget, Listener listener) {
		return to(port, new ServerSettings("test", budget), listener);
	}

	static Server to(int port, ServerSettings settings, Listener listener) {
		return new Server(settings, source("127.0.0.1", port), listener, Redirections.NONE);
	}

	static ConnectionSource source(String host, int port) {
		return ConnectionSource.server(new HostAndPort(host, port), DefaultJedisClientConfig.builder().build());
	}

}
