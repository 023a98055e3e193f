package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.Plan;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.embedded.RedisServer;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests that are denied, or limited, later than by the first filter.
 */
class DeniedLaterIT {

	@Test
	void responsesThatCountAreNotGivenBack() {
		try (TestApplication application = TestApplication.start(Application.class,
				"ratelimit.policies.denied.paths=/denied", "ratelimit.policies.denied.limits=3/h",
				"ratelimit.policies.denied.count-when=status in [429]", "ratelimit.policies.few.limits=1/d")) {
			assertThat(application.get("/denied").statusCode()).isEqualTo(200);
			for (int i = 1; i <= 2; i++) {
				assertThat(application.get("/denied").body()).contains("\"few\"").doesNotContain("\"denied\"");
				application.assertUsed("denied", i);
			}
			// Both have to be waited for from now on.
			assertThat(application.get("/denied").body()).contains("\"few\"").contains("\"denied\"");
			application.assertUsed("denied", 3);
			assertThat(application.get("/denied").body()).contains("\"denied\"");
		}
	}

	@Test
	void headersLeaveOutWhatWasGivenBackWhileTheStoreFails() {
		int port = TestRedis.freePort();
		RedisServer server = TestRedis.startServer(port);
		try (TestApplication application = TestApplication.startWithOwnLimiter(StepsApplication.class,
				"ratelimit.redis.url=redis://127.0.0.1:" + port, "ratelimit.redis.timeout=2s",
				"ratelimit.policies.api.paths=/steps", "ratelimit.policies.api.limits=5/d",
				"ratelimit.policies.punished.paths=/steps", "ratelimit.policies.punished.limits=3/d",
				"ratelimit.policies.punished.count-denied=true", "ratelimit.policies.few.limits=1/d",
				"ratelimit.policies.few.on-store-failure=deny")) {
			application.bean(Steps.class).before(() -> TestRedis.stop(server));
			HttpResponse<String> response = application.get("/steps");
			assertThat(response.statusCode()).isEqualTo(503);
			assertThat(response.headers().allValues("RateLimit-Policy")).containsExactly("\"punished\";q=3;w=86400");
			assertThat(response.headers().firstValue("RateLimit").orElseThrow()).startsWith("\"punished\";r=2;");
			assertThat(response.headers().allValues("X-Rate-Limit-Remaining")).containsExactly("2");
		}
	}

	@Test
	void headersAreLeftOutWhenAllWasGivenBackWhileTheStoreFails() {
		int port = TestRedis.freePort();
		RedisServer server = TestRedis.startServer(port);
		try (TestApplication application = TestApplication.startWithOwnLimiter(StepsApplication.class,
				"ratelimit.redis.url=redis://127.0.0.1:" + port, "ratelimit.redis.timeout=2s",
				"ratelimit.policies.api.paths=/steps", "ratelimit.policies.api.limits=5/d",
				"ratelimit.policies.few.limits=1/d", "ratelimit.policies.few.on-store-failure=deny")) {
			application.bean(Steps.class).before(() -> TestRedis.stop(server));
			HttpResponse<String> response = application.get("/steps");
			assertThat(response.statusCode()).isEqualTo(503);
			assertThat(response.headers().firstValue("Retry-After")).hasValue("1");
			assertThat(response.headers().map()).doesNotContainKeys("ratelimit", "ratelimit-policy",
					"x-rate-limit-limit", "x-rate-limit-remaining");
		}
	}

	@Test
	void headersTellWhatIsLeftAfterGivingBackThoughTheCallWouldBeAllowedByNow() {
		try (TestApplication application = TestApplication.start(StepsApplication.class,
				"ratelimit.policies.api.paths=/steps", "ratelimit.policies.api.limits=5/d",
				"ratelimit.policies.few.limits=1/m")) {
			assertThat(application.get("/steps").statusCode()).isEqualTo(200);
			application.bean(Steps.class).afterDenial(() -> application.advance(Duration.ofMinutes(1)));
			HttpResponse<String> response = application.get("/steps");
			assertThat(response.statusCode()).isEqualTo(429);
			assertThat(response.headers().firstValue("RateLimit").orElseThrow()).contains("\"api\";r=4;")
				.contains("\"few\";r=1;");
			application.assertUsed("api", 1);
		}
	}

	@Test
	void headersOfAForbiddenRequestTellWhatItsPathHasPaid() {
		try (TestApplication application = TestApplication.start(StepsApplication.class,
				"ratelimit.policies.api.paths=/steps", "ratelimit.policies.api.limits=5/d",
				"ratelimit.policies.few.limits=1/m", "ratelimit.policies.few.identifiers=header:X-Key",
				"ratelimit.policies.few.missing-identifier=deny")) {
			HttpResponse<String> response = application.get("/steps");
			assertThat(response.statusCode()).isEqualTo(403);
			assertThat(response.headers().firstValue("RateLimit").orElseThrow()).startsWith("\"api\";r=4;");
			application.assertUsed("api", 1);
		}
	}

	/** What the path has paid stays paid. */
	@ParameterizedTest
	@ValueSource(strings = { "count-denied=true", "count-when=status in [200, 4xx]" })
	void requestThatWaitsAsLongAsToldIsServedThoughThePathStaysPaid(String setting) {
		try (TestApplication application = TestApplication.start(Application.class,
				"ratelimit.policies.one.paths=/denied", "ratelimit.policies.one.limits=1/m",
				"ratelimit.policies.one." + setting, "ratelimit.policies.few.limits=1/10s")) {
			assertThat(application.get("/few").statusCode()).isEqualTo(200);
			HttpResponse<String> denied = application.get("/denied");
			assertThat(denied.statusCode()).isEqualTo(429);
			assertThat(denied.headers().firstValue("RateLimit").orElseThrow()).contains("\"one\";r=0;t=60");
			assertThat(denied.headers().firstValue("Retry-After")).hasValue("60");
			application.advance(Duration.ofSeconds(60));
			assertThat(application.get("/denied").statusCode()).isEqualTo(200);
		}
	}

	@Test
	void policyIsLimitedWhateverBeanGivesItPlans() {
		try (TestApplication application = TestApplication.start(PlannedApplication.class,
				"ratelimit.policies.api.paths=/api", "ratelimit.policies.api.limits=2/d")) {
			assertThat(IntStream.range(0, 4).mapToObj((i) -> application.get("/api").statusCode()))
				.isEqualTo(List.of(200, 200, 429, 429));
		}
	}

	static class Application extends TestApplication.Served {

		@GetMapping({ "/denied", "/few" })
		@RateLimited("few")
		String denied() {
			return "served";
		}

	}

	@Import(Steps.class)
	static class StepsApplication extends TestApplication.Served {

		@Bean
		static Few few() {
			return new Few();
		}

	}

	static class Few {

		@RateLimited("few")
		public String call() {
			return "served";
		}

	}

	@RestController
	static class Steps {

		private final Few few;

		private Runnable before = () -> {
		};

		private Runnable afterDenial = () -> {
		};

		Steps(Few few) {
			this.few = few;
		}

		void before(Runnable step) {
			this.before = step;
		}

		void afterDenial(Runnable step) {
			this.afterDenial = step;
		}

		@GetMapping("/steps")
		String steps() {
			this.before.run();
			try {
				return this.few.call();
			}
			catch (RateLimitExceededException ex) {
				this.afterDenial.run();
				throw ex;
			}
		}

	}

	static class PlannedApplication extends TestApplication.Served {

		@Bean
		static Supplier<String> tenants() {
			return new Tenants();
		}

	}

	private static final class Tenants implements PolicySource, Supplier<String> {

		@Override
		public IdentifiedPolicy current(IdentifiedPolicy policy) {
			return policy.withPlans(
					Map.of("free", new Plan(Policy.of(policy.policy().name(), new SlidingLog(), Limit.parse("3/d")))));
		}

		@Override
		public String get() {
			return "";
		}

	}

}
