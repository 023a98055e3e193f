package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.InstanceCount;
import io.github.ratelimit.spring.OwnRedis;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.RedisClient;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Requests while Redis is gone or hangs.
 */
@ExtendWith(OutputCaptureExtension.class)
class OutageIT {

	private static final String WARNING = "The store failed: until it answers, the on-store-failure of each policy applies";

	private static final String RECOVERY = "The store answers again: limits are enforced";

	/** Much longer than any answer takes, and much shorter than for ever. */
	private static final Duration SOON = Duration.ofSeconds(10);

	@Test
	void requestsAreAllowedWhenRedisIsStopped(CapturedOutput output) {
		OwnRedis redis = OwnRedis.started();
		withApplication(redis.port(), "2s", (application) -> {
			assertThat(application.get("/api").headers().allValues("X-Rate-Limit-Remaining")).containsExactly("0");
			assertThat(application.get("/api").statusCode()).isEqualTo(429);
			assertThat(output).doesNotContain(WARNING);
			long before = warnings(output).count();
			redis.stop();
			assertAllowedWithoutLimits(application);
			assertThat(warnings(output).skip(before)).singleElement().asString().contains(WARNING);
			// Or else the client that was denied would be so for another second.
		}, "ratelimit.policies.api.on-store-failure=allow", "ratelimit.denial-cache.enabled=false");
	}

	@Test
	void requestsAreAllowedSoonWhenRedisHangs(CapturedOutput output) throws IOException {
		try (ServerSocket hanging = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"))) {
			withApplication(hanging.getLocalPort(), "200ms", (application) -> {
				// Until nothing has answered the login for the timeout, this instance
				// limits by itself.
				await().atMost(SOON).until(() -> {
					application.get("/api");
					return output.getOut().contains(WARNING);
				});
				assertAllowedWithoutLimits(application);
				assertThat(output).containsOnlyOnce(WARNING).doesNotContain(RECOVERY);
			}, "ratelimit.policies.api.on-store-failure=allow");
		}
	}

	@Test
	void limitsAreEnforcedWhenRedisIsStartedLater(CapturedOutput output) {
		OwnRedis redis = OwnRedis.stopped();
		withApplication(redis.port(), "2s", (application) -> {
			assertAllowedWithoutLimits(application);
			try (redis) {
				redis.start();
				// Until the next probe the store is not asked.
				await().atMost(SOON)
					.until(() -> application.get("/api")
						.headers()
						.allValues("X-Rate-Limit-Remaining")
						.equals(List.of("0")));
				HttpResponse<String> denied = application.get("/api");
				assertThat(denied.statusCode()).isEqualTo(429);
				assertThat(denied.headers().allValues("X-Rate-Limit-Limit")).containsExactly("1");
				assertThat(output).containsOnlyOnce(WARNING).containsOnlyOnce(RECOVERY);
				assertThat(output.toString().lines().filter((line) -> line.contains(WARNING))).singleElement()
					.asString()
					.contains("127.0.0.1:" + redis.port());
			}
		}, "ratelimit.policies.api.on-store-failure=allow");
	}

	/** Of five, as a bean says, though the property says three. */
	@Test
	void requestsAreLimitedLocallyWhenLimiterOfApplicationFails() {
		withApplication(OwnLimiterApplication.class, TestRedis.freePort(), "2s", (application) -> {
			assertThat(application.statuses(3, "/api")).containsExactly(200, 200, 429);
			assertThat(application.statuses(3, "/annotated")).containsExactly(200, 200, 429);
		}, "ratelimit.policies.api.limits=10/d", "ratelimit.instances=3");
	}

	private static Stream<String> warnings(CapturedOutput output) {
		return output.getOut().lines().filter((line) -> line.contains("WARN"));
	}

	private static void assertAllowedWithoutLimits(TestApplication application) {
		for (int i = 0; i < 5; i++) {
			HttpResponse<String> response = application.get("/api");
			assertThat(response.statusCode()).isEqualTo(200);
			assertThat(response.body()).isEqualTo("served");
			assertThat(response.headers().map()).doesNotContainKeys("ratelimit", "ratelimit-policy",
					"x-rate-limit-limit", "x-rate-limit-remaining", "retry-after");
		}
	}

	private static void withApplication(int port, String timeout, Consumer<TestApplication> test,
			String... properties) {
		withApplication(Application.class, port, timeout, test, properties);
	}

	private static void withApplication(Class<?> configuration, int port, String timeout,
			Consumer<TestApplication> test, String... properties) {
		List<String> all = new ArrayList<>(List.of("""
				ratelimit:
				  redis: { url: 'redis://127.0.0.1:%d', timeout: %s }
				  policies.api: { paths: /api, limits: 1/d }
				""".formatted(port, timeout)));
		all.addAll(List.of(properties));
		try (TestApplication application = TestApplication.startWithOwnLimiter(configuration,
				all.toArray(String[]::new))) {
			test.accept(application);
		}
	}

	static class Application extends TestApplication.Served {

		@GetMapping("/annotated")
		@RateLimited(limits = "10/d")
		String annotated() {
			return "served";
		}

	}

	static class OwnLimiterApplication extends Application {

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
