package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;

import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.spring.OwnRedis;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.actuate.RateLimitsEndpoint;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.test.StoppedServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients that do not wait: whether the store or the memory of denials answers, they see
 * the same.
 */
@SuppressWarnings("try")
class RememberedDenialIT {

	private static OwnRedis redis;

	private static UnifiedJedis jedis;

	private static TestApplication application;

	private static RateLimitsEndpoint endpoint;

	@BeforeAll
	static void start() {
		redis = OwnRedis.started();
		jedis = RedisClient.create("127.0.0.1", redis.port());
		application = TestApplication.startWithOwnLimiter(Application.class, """
				ratelimit:
				  redis.url: redis://127.0.0.1:%d
				  denial-cache.max-age: 1h
				  policies:
				    api: { paths: /api, limits: 1/d }
				    a-free: { paths: /free, limits: 9/h, cost: 0 }
				    full: { paths: /free, limits: 1/d }
				    path: { paths: /method, limits: 9/h }
				    method: { limits: 1/d }
				    address: { paths: /user, limits: 9/h }
				    user: { paths: /user, limits: 1/d, identifiers: user }
				    calls: { paths: /calls, limits: 1/d, concurrent: 5 }
				    other: { paths: /calls, limits: 9/h }
				    block: { paths: /block, limits: [9/h, 90/d] }
				management.endpoints.web.exposure.include: ratelimits
				management.endpoint.ratelimits.access: unrestricted
				""".formatted(redis.port()));
		endpoint = application.bean(RateLimitsEndpoint.class);
	}

	@AfterAll
	static void stop() {
		application.close();
		jedis.close();
		redis.close();
	}

	@Test
	void deniedRequestsCostRedisNothingUntilTheCountIsReset() {
		assertThat(get("/api").statusCode()).isEqualTo(200);
		HttpResponse<String> first = get("/api");
		assertThat(first.statusCode()).isEqualTo(429);
		long calls = calls();
		for (int i = 0; i < 20; i++) {
			HttpResponse<String> denied = get("/api");
			assertThat(denied.statusCode()).isEqualTo(429);
			assertThat(denied.body()).isEqualTo(first.body());
			assertThat(denied.headers().map().keySet()).isEqualTo(first.headers().map().keySet());
			assertThat(denied.headers().allValues("X-Rate-Limit-Remaining")).containsExactly("0");
		}
		assertThat(calls()).isEqualTo(calls);
		try (StoppedServer stopped = StoppedServer.stop(jedis)) {
			assertThat(get("/api").statusCode()).isEqualTo(429);
		}
		endpoint.delete("counts", "ip:127.0.0.1", "api");
		assertThat(get("/api").statusCode()).isEqualTo(200);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { "/free | \"full\";q=1;w=86400", "/method | \"path\";q=9;w=3600, \"method\";q=1;w=86400",
					"/user | \"address\";q=9;w=3600, \"user\";q=1;w=86400",
					"/calls | \"calls\";q=1;w=86400, \"other\";q=9;w=3600,"
							+ " \"calls (at once)\";q=5;qu=\"concurrent-requests\"" })
	void policiesAreThoseOfTheFirstDenial(String path, String policies) {
		assertThat(get(path).statusCode()).isEqualTo(200);
		assertDeniedTwice(path, policies);
	}

	@Test
	void policiesAreNamedWhenTheClientIsBlocked() {
		endpoint.write("blocks", "ip:127.0.0.1", null, "1h", "");
		try {
			HttpResponse<String> denied = assertDeniedTwice("/block",
					"\"block/h\";q=9;w=3600, \"block/d\";q=90;w=86400");
			assertThat(denied.body()).contains("abnormal-usage-detected");
			assertThat(denied.headers().map()).doesNotContainKeys("RateLimit", "X-Rate-Limit-Limit");
		}
		finally {
			endpoint.delete("blocks", "ip:127.0.0.1", null);
		}
		assertThat(get("/block").statusCode()).isEqualTo(200);
	}

	private static HttpResponse<String> assertDeniedTwice(String path, String policies) {
		HttpResponse<String> first = get(path);
		long calls = calls();
		HttpResponse<String> second = get(path);
		assertThat(first.statusCode()).isEqualTo(429);
		assertThat(first.headers().allValues("RateLimit-Policy")).containsExactly(policies);
		assertThat(second.statusCode()).isEqualTo(429);
		assertThat(second.headers().allValues("RateLimit-Policy")).containsExactly(policies);
		assertThat(calls()).isEqualTo(calls + ((path.equals("/method") || path.equals("/user")) ? 1 : 0));
		return second;
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis.scripting=false", "ratelimit.denial-cache.enabled=false" })
	void redisIsAskedEachTimeUnlessDenialsMayBeRemembered(String property) {
		StarterRunners.web()
			.withPropertyValues(property)
			.run((context) -> assertThat(context).hasSingleBean(RedisConnections.class)
				.doesNotHaveBean(DenialCache.class));
	}

	/** How often scripts were called. */
	private static long calls() {
		return jedis.info("commandstats")
			.lines()
			.filter((line) -> line.startsWith("cmdstat_eval"))
			.mapToLong((line) -> Long.parseLong(line.replaceFirst(".*:calls=(\\d+).*", "$1")))
			.sum();
	}

	private static HttpResponse<String> get(String path) {
		return application.getAs("berta:secret", path);
	}

	@Import(LoginApplication.class)
	@RestController
	static class Application {

		@GetMapping({ "/api", "/free", "/user", "/calls", "/block" })
		String path() {
			return "served";
		}

		@GetMapping("/method")
		@RateLimited("method")
		String method() {
			return "served";
		}

	}

}
