package io.github.ratelimit.spring.redis;

import java.util.List;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.OwnRedis;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Counts arrive in a container with {@code @ServiceConnection}, of which no property says
 * anything.
 */
@SpringBootTest(webEnvironment = WebEnvironment.NONE, properties = "ratelimit.redis.timeout=10s")
class ServiceConnectionIT {

	private static final Logger logger = LoggerFactory.getLogger(ServiceConnectionIT.class);

	private static final String IMAGE = "redis:8-alpine";

	private static final int PORT = 6379;

	private static final RateLimitRequest REQUEST = RateLimitRequest
		.of(Policy.of("api", new FixedWindow(), new Limit(5, Limit.MAX_WINDOW)), Identifier.GLOBAL);

	@Test
	void countsArriveInContainer(@Autowired Environment environment, @Autowired GenericContainer<?> container,
			@Autowired RateLimiter limiter) {
		assertThat(List.of("ratelimit.redis.url", "ratelimit.redis.host", "spring.data.redis.url",
				"spring.data.redis.host", "spring.data.redis.port"))
			.noneMatch(environment::containsProperty);
		limiter.tryAcquire(REQUEST);
		try (UnifiedJedis jedis = RedisClient.create(container.getHost(), container.getMappedPort(PORT))) {
			assertThat(RedisRateLimiter.of(jedis).peek(REQUEST).statuses()).singleElement()
				.hasFieldOrPropertyWithValue("remaining", 4L);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		@ServiceConnection(name = "redis")
		GenericContainer<?> redis() {
			if (DockerClientFactory.instance().isDockerAvailable()) {
				logger.info("@ServiceConnection is on a container of {}", IMAGE);
				return new GenericContainer<>(IMAGE).withExposedPorts(PORT);
			}
			logger.info("@ServiceConnection is on a server of its own, because Docker does not answer");
			return new WithoutDocker();
		}

	}

	/** To Spring Boot a container, which it starts and stops. */
	private static final class WithoutDocker extends GenericContainer<WithoutDocker> {

		private final OwnRedis redis = OwnRedis.started();

		WithoutDocker() {
			super(IMAGE);
		}

		@Override
		public void start() {
			// It has started.
		}

		@Override
		public void stop() {
			this.redis.stop();
		}

		@Override
		public String getHost() {
			return "127.0.0.1";
		}

		@Override
		public Integer getMappedPort(int originalPort) {
			assertThat(originalPort).isEqualTo(PORT);
			return this.redis.port();
		}

	}

}
