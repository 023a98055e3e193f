package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.spring.Caller;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.OwnRedis;
import io.github.ratelimit.spring.Plan;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests that are denied, or limited, later than by the first filter.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		ratelimit.policies:
		  api: { paths: [/few, /keyed], limits: 5/d }
		  few: { limits: 1/m }
		  counted: { paths: /counted, limits: 3/h, count-when: 'status in [429]' }
		  one: { limits: 1/d }
		  keyed: { limits: 1/m, identifiers: header:X-Key, missing-identifier: deny }
		  planned: { paths: /planned, limits: 2/d }
		""")
class DeniedLaterIT {

	@Parameter
	TestApplication application;

	@Test
	void whatThePathHasPaidStaysPaidWhenACallIsDenied() {
		assertThat(this.application.get("/few").statusCode()).isEqualTo(200);
		HttpResponse<String> denied = this.application.get("/few");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().firstValue("Retry-After")).hasValue("60");
		assertThat(denied.headers().firstValue("RateLimit").orElseThrow()).contains("\"api\";r=3;")
			.contains("\"few\";r=0;");
		assertThat(denied.body()).contains("\"few\"").doesNotContain("\"api\"");
		this.application.assertUsed("api", 2);
	}

	@Test
	void deniedCallCountsByTheStatusOfItsResponse() {
		assertThat(this.application.get("/counted").statusCode()).isEqualTo(200);
		for (int i = 1; i <= 3; i++) {
			assertThat(this.application.get("/counted").body()).contains("\"one\"").doesNotContain("\"counted\"");
			this.application.assertUsed("counted", i);
		}
		assertThat(this.application.get("/counted").body()).contains("\"counted\"");
	}

	@Test
	void headersTellWhatThePathHasUsedWhenTheStoreFailsLater() {
		try (OwnRedis redis = OwnRedis.started();
				TestApplication application = TestApplication.startWithOwnLimiter(this.application.container(),
						StepsApplication.class, "ratelimit.redis.url=redis://127.0.0.1:" + redis.port(),
						"ratelimit.redis.timeout=2s", "ratelimit.policies.api.paths=/steps",
						"ratelimit.policies.api.limits=5/d", "ratelimit.policies.few.limits=1/d",
						"ratelimit.policies.few.on-store-failure=deny")) {
			application.bean(Steps.class).before(() -> redis.stop());
			HttpResponse<String> response = application.get("/steps");
			assertThat(response.statusCode()).isEqualTo(503);
			assertThat(response.headers().firstValue("Retry-After")).hasValue("1");
			assertThat(response.headers().firstValue("RateLimit").orElseThrow()).startsWith("\"api\";r=4;");
		}
	}

	@Test
	void headersOfAForbiddenRequestTellWhatItsPathHasPaid() {
		HttpResponse<String> response = this.application.get("/keyed");
		assertThat(response.statusCode()).isEqualTo(403);
		assertThat(response.headers().firstValue("RateLimit").orElseThrow()).startsWith("\"api\";r=4;");
		this.application.assertUsed("api", 1);
	}

	@Test
	void policyIsLimitedWhateverBeanGivesItPlans() {
		assertThat(IntStream.range(0, 4).mapToObj((i) -> this.application.get("/planned").statusCode()))
			.isEqualTo(List.of(200, 200, 429, 429));
	}

	static class Application extends TestApplication.Served {

		@GetMapping("/few")
		@RateLimited("few")
		String few() {
			return "served";
		}

		@GetMapping("/counted")
		@RateLimited("one")
		String one() {
			return "served";
		}

		@GetMapping("/keyed")
		@RateLimited("keyed")
		String keyed() {
			return "served";
		}

		@GetMapping("/planned")
		String planned() {
			return "served";
		}

		@Bean
		static Supplier<String> tenants() {
			return new Tenants();
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

		Steps(Few few) {
			this.few = few;
		}

		void before(Runnable step) {
			this.before = step;
		}

		@GetMapping("/steps")
		String steps() {
			this.before.run();
			return this.few.call();
		}

	}

	private static final class Tenants implements PolicySource, Supplier<String> {

		@Override
		public IdentifiedPolicy current(IdentifiedPolicy policy, Caller caller) {
			return !policy.policy().name().equals("planned") ? policy : policy.withPlans(
					Map.of("free", new Plan(Policy.of(policy.policy().name(), new SlidingLog(), Limit.parse("3/d")))));
		}

		@Override
		public String get() {
			return "";
		}

	}

}
