package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.InstanceCount;
import io.github.ratelimit.spring.OwnRedis;
import io.github.ratelimit.spring.actuate.RateLimitsEndpoint;
import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.TestRedis;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What is answered without Redis: denials of clients that do not wait, who see the same
 * as from Redis; parts of quotas that are taken in advance; and all requests while Redis
 * is gone or hangs.
 */
@ExtendWith(OutputCaptureExtension.class)
@SuppressWarnings("try")
class WithoutRedisIT {

	private static final int QUOTA = 100_000;

	private static final Policy LEASED = Policy.of("leased", new FirstRequestWindow(), Limit.parse(QUOTA + "/d"))
		.withLease(Duration.ofSeconds(10));

	private static final Identifier CLIENT = Identifier.ip("127.0.0.1");

	private static final String WARNING = "The store failed: until it answers, the on-store-failure of each policy applies";

	private static final String RECOVERY = "The store answers again: limits are enforced";

	/** Much longer than any answer takes, and much shorter than for ever. */
	private static final Duration SOON = Duration.ofSeconds(10);

	private static OwnRedis redis;

	private static UnifiedJedis jedis;

	private static TestApplication application;

	private static RateLimitsEndpoint endpoint;

	@BeforeAll
	static void start() {
		redis = OwnRedis.started();
		jedis = RedisClient.create("127.0.0.1", redis.port());
		application = TestApplication.startWithOwnLimiter(LoginApplication.class, """
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

	@Test
	void whatIsTakenInAdvanceIsGivenBackAtShutdown() {
		int sent = 0;
		try (TestApplication leasing = TestApplication.startWithOwnLimiter(TestApplication.Served.class, """
				ratelimit:
				  redis.url: redis://127.0.0.1:%d
				  key-prefix: ratelimit
				  policies.leased: { paths: /leased, limits: %d/d, algorithm: first-request-window, lease: 10s }
				""".formatted(redis.port(), QUOTA))) {
			do {
				assertThat(leasing.get("/leased").statusCode()).isEqualTo(200);
				sent++;
			}
			while (counted() == sent);
			assertThat(counted()).isGreaterThan(sent);
			leasing.get("/leased");
			sent++;
			assertThat(leasing.bean(MeterRegistry.class)
				.get("ratelimit.decisions")
				.tags("policy", "leased", "source", "lease")
				.timer()
				.count()).isPositive();
		}
		assertThat(counted()).isEqualTo(sent);
	}

	/** What Redis has counted, apart from the application. */
	private static int counted() {
		RateLimitRequest request = RateLimitRequest.of(LEASED, CLIENT);
		return (int) (QUOTA - RedisRateLimiter.of(jedis).peek(request).statuses().get(0).remaining());
	}

	@Test
	void requestsAreAllowedWhileRedisIsStopped(CapturedOutput output) {
		try (OwnRedis stopped = OwnRedis.stopped(); TestApplication allowing = start(stopped.port(), "20s")) {
			assertAllowedWithoutLimits(allowing);
			assertThat(output).containsOnlyOnce(WARNING);
			assertThat(output.toString().lines().filter((line) -> line.contains(WARNING))).singleElement()
				.asString()
				.contains("127.0.0.1:" + stopped.port());
			stopped.start();
			// Until the next probe the store is not asked.
			await().atMost(SOON)
				.until(() -> allowing.get("/api").headers().allValues("X-Rate-Limit-Remaining").equals(List.of("0")));
			HttpResponse<String> denied = allowing.get("/api");
			assertThat(denied.statusCode()).isEqualTo(429);
			assertThat(denied.headers().allValues("X-Rate-Limit-Limit")).containsExactly("1");
			assertThat(output).containsOnlyOnce(WARNING).containsOnlyOnce(RECOVERY);
			stopped.stop();
			assertAllowedWithoutLimits(allowing);
			assertThat(StringUtils.countOccurrencesOf(output.getOut(), WARNING)).isEqualTo(2);
		}
	}

	@Test
	void requestsAreAllowedSoonWhenRedisHangs(CapturedOutput output) throws IOException {
		try (ServerSocket hanging = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
				TestApplication allowing = start(hanging.getLocalPort(), "200ms")) {
			// Until nothing has answered the login for the timeout, this instance
			// limits by itself.
			await().atMost(SOON).until(() -> {
				allowing.get("/api");
				return output.getOut().contains(WARNING);
			});
			assertAllowedWithoutLimits(allowing);
			assertThat(output).containsOnlyOnce(WARNING).doesNotContain(RECOVERY);
		}
	}

	/** Of five, as a bean says, though the property says three. */
	@Test
	void requestsAreLimitedLocallyWhenLimiterOfApplicationFails() {
		try (TestApplication allowing = TestApplication.startWithOwnLimiter(OwnLimiterApplication.class, """
				ratelimit.policies.api: { paths: /api, limits: 10/d }
				ratelimit.policies.method.limits: 10/d
				ratelimit.instances: 3
				""")) {
			assertThat(allowing.statuses(3, "/api")).containsExactly(200, 200, 429);
			assertThat(allowing.statuses(3, "/method")).containsExactly(200, 200, 429);
		}
	}

	private static void assertAllowedWithoutLimits(TestApplication allowing) {
		for (int i = 0; i < 5; i++) {
			HttpResponse<String> response = allowing.get("/api");
			assertThat(response.statusCode()).isEqualTo(200);
			assertThat(response.body()).isEqualTo("served");
			assertThat(response.headers().map()).doesNotContainKeys("ratelimit", "ratelimit-policy",
					"x-rate-limit-limit", "x-rate-limit-remaining", "retry-after");
		}
	}

	/** The memory of denials would keep who was denied so for another second. */
	private static TestApplication start(int port, String timeout) {
		return TestApplication.startWithOwnLimiter(TestApplication.Served.class, """
				ratelimit:
				  redis: { url: 'redis://127.0.0.1:%d', timeout: %s }
				  denial-cache.enabled: false
				  policies.api: { paths: /api, limits: 1/d, on-store-failure: allow }
				""".formatted(port, timeout));
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

	static class OwnLimiterApplication extends TestApplication.WithMethod {

		@Bean
		static InstanceCount instances() {
			return () -> 5;
		}

		@Bean
		static RateLimiter ownLimiter() {
			return RedisRateLimiter.of(RedisClient.create("127.0.0.1", TestRedis.freePort()));
		}

	}

}
