package io.github.ratelimit.sample;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Map;
import java.util.stream.Stream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.embedded.RedisServer;

import org.springframework.beans.factory.support.DefaultSingletonBeanRegistry;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

/**
 * Starts a real Redis server before the application if none is configured, to try the
 * application without any setup, and stops it with the application. The application only
 * sees the properties of the connection.
 */
class LocalRedis implements ApplicationContextInitializer<ConfigurableApplicationContext>, Ordered {

	private static final Logger logger = LoggerFactory.getLogger(LocalRedis.class);

	/** Name of the server among the beans, and of its connection among the sources. */
	static final String NAME = "localRedis";

	static final String HOST = "127.0.0.1";

	@Override
	public void initialize(ConfigurableApplicationContext context) {
		if (isRedisConfigured(context.getEnvironment())
				|| !(context.getBeanFactory() instanceof DefaultSingletonBeanRegistry beans)) {
			return;
		}
		int port = freePort();
		RedisServer server = start(port);
		beans.registerSingleton(NAME, server);
		beans.registerDisposableBean(NAME, server::stop);
		context.getEnvironment()
			.getPropertySources()
			.addFirst(new MapPropertySource(NAME, Map.of("ratelimit.redis.host", HOST, "ratelimit.redis.port", port)));
		logger.info("No Redis is configured (ratelimit.redis.* or spring.data.redis.*): started one on {}:{}", HOST,
				port);
	}

	/** Runs after the initializers of tests, which may configure a Redis. */
	@Override
	public int getOrder() {
		return LOWEST_PRECEDENCE;
	}

	private static boolean isRedisConfigured(ConfigurableEnvironment environment) {
		return Stream.of("ratelimit.redis.", "spring.data.redis.")
			.flatMap((prefix) -> Stream.of("url", "host", "sentinel.master", "cluster.nodes", "cluster.nodes[0]")
				.map(prefix::concat))
			.anyMatch(environment::containsProperty);
	}

	private static RedisServer start(int port) {
		try {
			RedisServer server = RedisServer.newRedisServer().port(port).bind(HOST).setting("save \"\"").build();
			server.start();
			return server;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static int freePort() {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
