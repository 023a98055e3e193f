package io.github.ratelimit.redis.connection;

import java.time.Duration;

import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;

/**
 * Connects to servers of tests.
 */
public final class Connecting {

	/** Learns of nothing. */
	public static final Listener NOBODY = new Listener() {
	};

	private Connecting() {
	}

	/** Settings with the defaults of users. */
	public static ServerSettings settings(String name, Duration budget) {
		return new ServerSettings(name, budget, 2, 8192);
	}

	static Server to(int port, Duration budget, Listener listener) {
		return to(port, settings("test", budget), listener);
	}

	static Server to(int port, ServerSettings settings, Listener listener) {
		return new Server(settings, source("127.0.0.1", port), listener);
	}

	static ConnectionSource source(String host, int port) {
		return ConnectionSource.server(new HostAndPort(host, port), DefaultJedisClientConfig.builder().build());
	}

}
