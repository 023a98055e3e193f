package io.github.ratelimit.spring.redis;

import java.io.IOException;
import java.io.InputStream;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.InstanceCount;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.policy.RateLimitProperties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SettingsCheck}.
 */
@ExtendWith(OutputCaptureExtension.class)
class SettingsCheckTests {

	private static final String NOT_DIVIDED = "ratelimit.instances is not set: while the store fails, each instance grants "
			+ "the whole quota of the policies [api]. Set it to the number of instances, even if it is 1";

	private final ApplicationContextRunner runner = StarterRunners.nonWeb();

	@Test
	void settingsThatHaveAnEffectAreNotMentioned() {
		assertWarnings(this.runner.withPropertyValues("ratelimit.redis.timeout=1s", "ratelimit.key-prefix=a",
				"ratelimit.denial-cache.max-age=2s", "ratelimit.instances=3", "ratelimit.policies.api.limits=5/m",
				"ratelimit.policies.api.on-store-failure=local"));
		assertWarnings(this.runner.withPropertyValues("ratelimit.policies.api.limits=5/m"));
	}

	@Test
	void localPoliciesWithoutTheNumberOfInstancesAreNamed(CapturedOutput output) {
		ApplicationContextRunner local = this.runner.withPropertyValues("ratelimit.policies.api.limits=5/m",
				"ratelimit.policies.api.on-store-failure=local", "ratelimit.policies.other.limits=5/m");
		assertWarnings(local, NOT_DIVIDED);
		assertThat(output).containsOnlyOnce(NOT_DIVIDED);
		assertWarnings(local.withPropertyValues("ratelimit.instances=1"));
		assertWarnings(local.withBean(InstanceCount.class, () -> () -> 4));
		assertWarnings(local.withPropertyValues("ratelimit.policies.api.mode=shadow"));
	}

	@Test
	void numberOfInstancesIsWithoutEffectBesidesABean() {
		assertWarnings(
				this.runner.withBean(InstanceCount.class, () -> () -> 4).withPropertyValues("ratelimit.instances=3"),
				"ratelimit.instances: ignored, because the application declares an InstanceCount bean");
	}

	@Test
	void connectionIsWithoutEffectBesidesAClient() {
		assertWarnings(
				this.runner.withBean("mine", UnifiedJedis.class, () -> RedisClient.create("127.0.0.1", 1))
					.withPropertyValues("ratelimit.redis.client=mine", "ratelimit.redis.host=example.com",
							"ratelimit.redis.client-name=a", "ratelimit.redis.timeout=1s", "ratelimit.key-prefix=a",
							"ratelimit.redis.scripting=true"),
				"ratelimit.redis.host, ratelimit.redis.client-name: ignored, because "
						+ "ratelimit.redis.client names a client of the application");
	}

	@Test
	void everySettingOfRedisIsKnown() throws IOException {
		Map<String, String> values = Map.of("java.lang.String", "a", "java.lang.Integer", "1", "java.lang.Boolean",
				"true", "java.time.Duration", "1s");
		List<String> names = new ArrayList<>();
		List<String> settings = new ArrayList<>();
		for (JsonNode property : metadata()) {
			String name = property.path("name").stringValue();
			if (name.startsWith("ratelimit.redis.")) {
				names.add(name);
				String value = values.get(property.path("type").stringValue());
				settings.add((value != null) ? name + "=" + value : name + "[0]=a:1");
			}
		}
		this.runner.withBean(RateLimiter.class, () -> new MemoryRateLimiter(InstantSource.system()))
			.withPropertyValues(settings.toArray(String[]::new))
			.run((context) -> assertThat(context.getBean(SettingsCheck.class).warnings()).singleElement()
				.satisfies((warning) -> assertThat(warning.substring(0, warning.indexOf(':')).split(", "))
					.containsExactlyInAnyOrderElementsOf(names)));
	}

	private JsonNode metadata() throws IOException {
		try (InputStream input = RateLimitProperties.class.getClassLoader()
			.getResource("META-INF/spring-configuration-metadata.json")
			.openStream()) {
			return JsonMapper.shared().readTree(input).path("properties");
		}
	}

	@Test
	void nodesAndLoginOfSentinelsAreWithoutEffectBesidesAClient() {
		assertWarnings(
				this.runner.withBean("mine", UnifiedJedis.class, () -> RedisClient.create("127.0.0.1", 1))
					.withPropertyValues("ratelimit.redis.client=mine", "ratelimit.redis.sentinel.master=main",
							"ratelimit.redis.sentinel.nodes[0]=a:1", "ratelimit.redis.sentinel.username=guard",
							"ratelimit.redis.sentinel.password=open", "ratelimit.redis.password="),
				"ratelimit.redis.sentinel.master, ratelimit.redis.sentinel.nodes, ratelimit.redis.sentinel.username, "
						+ "ratelimit.redis.sentinel.password: ignored, because ratelimit.redis.client "
						+ "names a client of the application");
		assertWarnings(
				this.runner.withBean("mine", UnifiedJedis.class, () -> RedisClient.create("127.0.0.1", 1))
					.withPropertyValues("ratelimit.redis.client=mine", "ratelimit.redis.cluster.nodes=a:1,b:1"),
				"ratelimit.redis.cluster.nodes: ignored, because ratelimit.redis.client names a client of "
						+ "the application");
	}

	@Test
	void storeIsWithoutEffectBesidesALimiter() {
		assertWarnings(
				this.runner.withBean(RateLimiter.class, () -> new MemoryRateLimiter(InstantSource.system()))
					.withPropertyValues("ratelimit.redis.url=redis://localhost", "ratelimit.key-prefix=a",
							"ratelimit.denial-cache.enabled=true"),
				"ratelimit.redis.url, ratelimit.key-prefix: ignored, because the application declares a "
						+ "RateLimiter bean",
				"ratelimit.denial-cache.enabled: ignored, because the application declares a RateLimiter " + "bean");
	}

	@Test
	void denialCacheIsWithoutEffectWhereNothingIsRemembered() {
		assertWarnings(
				this.runner.withPropertyValues("ratelimit.denial-cache.enabled=false",
						"ratelimit.denial-cache.max-age=2s"),
				"ratelimit.denial-cache.max-age: ignored, because ratelimit.denial-cache.enabled is false");
		assertWarnings(
				this.runner.withPropertyValues("ratelimit.redis.scripting=false", "ratelimit.denial-cache.max-size=5"),
				"ratelimit.denial-cache.max-size: ignored, because ratelimit.redis.scripting is false");
	}

	private static void assertWarnings(ApplicationContextRunner runner, String... warnings) {
		runner.run((context) -> {
			assertThat(context).hasNotFailed();
			List<String> found = context.getBean(SettingsCheck.class).warnings();
			assertThat(found).containsExactly(warnings);
		});
	}

}
