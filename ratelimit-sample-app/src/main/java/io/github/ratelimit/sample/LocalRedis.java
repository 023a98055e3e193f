package io.github.ratelimit.sample;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.stream.Stream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.embedded.RedisServer;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * A real Redis for those who just want to try the application: where none is configured,
 * one is started with it, and stopped with it.
 */
@Configuration(proxyBeanMethods = false)
@Conditional(LocalRedis.NoRedisConfigured.class)
class LocalRedis {

	private static final Logger logger = LoggerFactory.getLogger(LocalRedis.class);

	@Bean(destroyMethod = "stop")
	RedisServer redisServer() throws IOException {
		int port = freePort();
		RedisServer server = RedisServer.newRedisServer().port(port).bind("127.0.0.1").setting("save \"\"").build();
		server.start();
		logger.info("No Redis is configured (ratelimit.redis.* or spring.data.redis.*): started one on 127.0.0.1:{}",
				port);
		return server;
	}

	@Bean
	UnifiedJedis jedis(RedisServer server) {
		return RedisClient.create("127.0.0.1", server.ports().get(0));
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	static class NoRedisConfigured implements Condition {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			return Stream
				.of("ratelimit.redis.url", "ratelimit.redis.host", "spring.data.redis.url", "spring.data.redis.host")
				.noneMatch(context.getEnvironment()::containsProperty);
		}

	}

}
