package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.stream.Stream;

import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.spring.OwnRedis;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.actuate.RateLimitsEndpoint;
import io.github.ratelimit.test.StoppedServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients that do not wait.
 */
@SuppressWarnings("try")
class DenialCacheIT {

	private final OwnRedis redis = OwnRedis.started();

	private final UnifiedJedis jedis = RedisClient.create("127.0.0.1", this.redis.port());

	@AfterEach
	void stop() {
		this.jedis.close();
		this.redis.close();
	}

	@Test
	void deniedRequestsCostRedisNothingUntilTheCountIsReset() {
		try (TestApplication application = start("ratelimit.denial-cache.max-age=1h")) {
			assertThat(application.get("/api").statusCode()).isEqualTo(200);
			HttpResponse<String> first = application.get("/api");
			assertThat(first.statusCode()).isEqualTo(429);
			String calls = calls();
			for (int i = 0; i < 20; i++) {
				HttpResponse<String> denied = application.get("/api");
				assertThat(denied.statusCode()).isEqualTo(429);
				assertThat(denied.body()).isEqualTo(first.body());
				assertThat(denied.headers().map().keySet()).isEqualTo(first.headers().map().keySet());
				assertThat(denied.headers().allValues("X-Rate-Limit-Remaining")).containsExactly("0");
				assertThat(denied.headers().firstValueAsLong("Retry-After").orElseThrow())
					.isBetween(Duration.ofHours(23).toSeconds(), Duration.ofDays(1).toSeconds());
			}
			assertThat(calls()).isEqualTo(calls);
			try (StoppedServer stopped = StoppedServer.stop(this.jedis)) {
				assertThat(application.get("/api").statusCode()).isEqualTo(429);
			}
			RateLimitsEndpoint endpoint = application.bean(RateLimitsEndpoint.class);
			endpoint.delete("counts", "ip:127.0.0.1", "api");
			assertThat(application.get("/api").statusCode()).isEqualTo(200);
			endpoint.write("blocks", "ip:127.0.0.1", null, "1h", "");
			assertThat(application.get("/api").body()).contains("abnormal-usage-detected");
			assertThat(application.get("/api").body()).contains("abnormal-usage-detected");
			endpoint.delete("blocks", "ip:127.0.0.1", null);
			endpoint.delete("counts", "ip:127.0.0.1", "api");
			assertThat(application.get("/api").statusCode()).isEqualTo(200);
		}
	}

	@ParameterizedTest
	@EnumSource
	void policiesStandInTheHeadersOfEveryDenial(Container container) {
		try (TestApplication application = start(container, "ratelimit.denial-cache.max-age=1h",
				"ratelimit.policies.other.paths=/api", "ratelimit.policies.other.limits=5/h,10/d")) {
			application.get("/api");
			HttpResponse<String> first = application.get("/api");
			String calls = calls();
			HttpResponse<String> second = application.get("/api");
			assertThat(calls()).isEqualTo(calls);
			assertThat(second.statusCode()).isEqualTo(429);
			assertThat(second.headers().allValues("RateLimit-Policy"))
				.isEqualTo(first.headers().allValues("RateLimit-Policy"))
				.hasSize(1);
			assertThat(second.headers().firstValue("RateLimit").orElseThrow()).startsWith("\"api\";r=0;t=")
				.doesNotContain("other");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis.scripting=false", "ratelimit.denial-cache.enabled=false" })
	void redisIsAskedEachTimeUnlessDenialsMayBeRemembered(String property) {
		StarterRunners.web()
			.withPropertyValues(property)
			.run((context) -> assertThat(context).hasSingleBean(RedisConnections.class)
				.doesNotHaveBean(DenialCache.class));
	}

	/** How often each command was called, without what this class calls itself. */
	private String calls() {
		return this.jedis.info("commandstats")
			.lines()
			.filter((line) -> line.startsWith("cmdstat_eval"))
			.map((line) -> line.replaceFirst(",usec.*", ""))
			.sorted()
			.toList()
			.toString();
	}

	private TestApplication start(String... properties) {
		return start(Container.TOMCAT, properties);
	}

	private TestApplication start(Container container, String... properties) {
		return TestApplication.startWithOwnLimiter(container, TestApplication.Served.class,
				Stream
					.concat(Stream.of("ratelimit.redis.url=redis://127.0.0.1:" + this.redis.port(),
							"ratelimit.redis.timeout=20s", "ratelimit.policies.api.paths=/api",
							"ratelimit.policies.api.limits=1/d",
							"management.endpoints.web.exposure.include=ratelimits"), Stream.of(properties))
					.toArray(String[]::new));
	}

}
