package io.github.ratelimit.sample;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.embedded.RedisServer;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

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
		try (Playground playground = new Playground(); UnifiedJedis redis = playground.redis()) {
			assertThat(playground.status("GET user")).isEqualTo(200);
			assertThat(redis.keys("*:user:*")).isNotEmpty();
		}
		assertStopped(output);
	}

	@ParameterizedTest
	@CsvSource({ "--ratelimit.policies.search.limits=often, often",
			"--ratelimit.redis.timeout=1ms, ratelimit.redis.timeout" })
	void redisIsStoppedWhenApplicationFailsToStart(String argument, String reason, CapturedOutput output) {
		assertThatException()
			.isThrownBy(() -> SpringApplication.run(SampleApplication.class, "--server.port=0", argument))
			.havingRootCause()
			.withMessageContaining(reason);
		assertStopped(output);
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis.cluster.nodes=127.0.0.1:1", "spring.data.redis.cluster.nodes=127.0.0.1:1",
			"spring.data.redis.cluster.nodes[0]=127.0.0.1:1", "ratelimit.redis.url=redis://127.0.0.1:1",
			"spring.data.redis.host=127.0.0.1" })
	void noRedisIsStartedWhateverNamesOne(String property, CapturedOutput output) {
		try (Playground playground = new Playground("--" + property)) {
			assertThat(playground.beans(RedisServer.class)).isEmpty();
			assertThat(output).doesNotContain("No Redis is configured");
		}
	}

	private static void assertStopped(CapturedOutput output) {
		Matcher started = STARTED.matcher(output);
		assertThat(started.find()).isTrue();
		try (UnifiedJedis redis = RedisClient.create(LocalRedis.HOST, Integer.parseInt(started.group(1)))) {
			assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(redis::ping);
		}
	}

}
