package io.github.ratelimit.sample;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.embedded.RedisServer;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LocalRedis}.
 */
@ExtendWith(OutputCaptureExtension.class)
class LocalRedisIT {

	private static final Pattern STARTED = Pattern.compile(
			"No Redis is configured \\(ratelimit\\.redis\\.\\* or spring\\.data\\.redis\\.\\*\\): started one on 127\\.0\\.0\\.1:(\\d+)");

	@Test
	void redisStartsAndStopsWithApplicationIfNoneIsConfigured(CapturedOutput output) {
		int port;
		try (ConfigurableApplicationContext context = start("--ratelimit.redis.timeout=20s")) {
			Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("5/d"));
			assertThat(context.getBean(RateLimiter.class).tryAcquire(policy, Identifier.GLOBAL).allowed()).isTrue();
			port = startedPort(output);
			try (UnifiedJedis jedis = RedisClient.create("127.0.0.1", port)) {
				assertThat(jedis.ping()).isEqualTo("PONG");
			}
		}
		assertStopped(port);
	}

	@Test
	void redisIsStoppedWhenApplicationFailsToStart(CapturedOutput output) {
		assertThatException().isThrownBy(() -> start("--ratelimit.policies.search.limits=often"));
		assertStopped(startedPort(output));
	}

	@Test
	void timeoutCountsWhenNoRedisIsConfigured() {
		assertThatException().isThrownBy(() -> start("--ratelimit.redis.timeout=1ms"))
			.havingRootCause()
			.withMessageContaining("ratelimit.redis.timeout");
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis.cluster.nodes=127.0.0.1:1", "spring.data.redis.cluster.nodes=127.0.0.1:1",
			"spring.data.redis.cluster.nodes[0]=127.0.0.1:1", "ratelimit.redis.url=redis://127.0.0.1:1",
			"spring.data.redis.host=127.0.0.1" })
	void noRedisIsStartedWhateverNamesOne(String property, CapturedOutput output) {
		try (ConfigurableApplicationContext context = start("--" + property)) {
			assertThat(context.getBeanProvider(RedisServer.class).getIfAvailable()).isNull();
			assertThat(output).doesNotContain("No Redis is configured");
		}
	}

	private static int startedPort(CapturedOutput output) {
		Matcher matcher = STARTED.matcher(output);
		assertThat(matcher.find()).isTrue();
		return Integer.parseInt(matcher.group(1));
	}

	private static void assertStopped(int port) {
		try (UnifiedJedis jedis = RedisClient.create("127.0.0.1", port)) {
			assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(jedis::ping);
		}
	}

	private static ConfigurableApplicationContext start(String argument) {
		return new SpringApplicationBuilder(SampleApplication.class)
			.properties("server.port=0", "spring.main.banner-mode=off")
			.run(argument);
	}

}
