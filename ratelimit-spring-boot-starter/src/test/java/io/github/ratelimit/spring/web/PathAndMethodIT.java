package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.Map;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Requests whose path and whose limited methods pay apart: methods of handlers, of what
 * they call, and of filters before the limiter and before the login.
 */
@StartApplication("""
		ratelimit:
		  plan-cache-ttl: 0
		  policies:
		    api: { paths: /api/**, limits: 5/m }
		    denied: { paths: /denied, limits: 3/h, count-when: 'status in [429]' }
		    one: { limits: 1/d }
		    keyed: { limits: 1/m, identifiers: header:X-Key, missing-identifier: deny }
		    same: { paths: /same, limits: 10/m, plans.pro.limits: 20/m }
		    other: { paths: /other, limits: 10/m, plans.pro.limits: 20/2m }
		    told: { paths: /told, limits: 10/m, plans.pro.limits: 20/2m }
		""")
class PathAndMethodIT {

	@Parameter
	TestApplication application;

	@Test
	void pathAndMethodPayEachTheirCost() {
		assertThat(assertStatus("/api/heavy", 200).headers().firstValue("RateLimit")).hasValue("\"api\";r=1;t=60");
		this.application.assertUsed("api", 1 + 3);
		HttpResponse<String> denied = assertStatus("/api/heavy", 429);
		assertThat(denied.headers().firstValue("Retry-After")).hasValue("60");
		assertThat(denied.headers().firstValue("RateLimit")).hasValue("\"api\";r=0;t=60");
		this.application.assertUsed("api", 4 + 1);
	}

	@Test
	void fallbackIsNotCalledWhenThePathIsDenied() {
		assertThat(assertStatus("/api/fallback", 200).body()).isEqualTo("instead");
		this.application.assertUsed("api", 1);
		assertThat(this.application.statuses(4, "/api/light")).containsOnly(200);
		assertStatus("/api/fallback", 429);
		this.application.assertUsed("api", 5);
	}

	@Test
	void methodWithIdentifiersOfItsOwnIsCountedByThem() {
		assertThat(assertStatus("/api/own", 200, "X-User", "anna").headers().firstValue("RateLimit"))
			.hasValue("\"api\";r=2;t=60");
		this.application.assertUsed("api", 1);
		this.application.assertUsed("api", new Identifier("header:X-User", "anna"), 3);
		assertStatus("/api/own", 429, "X-User", "anna");
		assertStatus("/api/own", 200, "X-User", "berta");
		this.application.assertUsed("api", 3);
	}

	@Test
	void callOfFilterStaysPaidWhenThePathIsDenied() {
		assertThat(this.application.statuses(4, "/api/light")).containsOnly(200);
		assertStatus("/api/light", 429, "X-Call", "api");
		this.application.assertUsed("api", 5);
	}

	/** What is left without a plan, as before the login, and with that of the user. */
	@ParameterizedTest
	@CsvSource({ "same, 8, 18", "other, 9, 19", "told, 5, 15" })
	void callBeforeLoginSharesCountOfSameWindows(String name, long withoutPlan, long ofPlan) {
		assertStatus("/" + name, 200, "X-User", "anna", "X-Call", name);
		IdentifiedPolicy policy = this.application.bean(ConfiguredPolicies.class).find(name).orElseThrow();
		await().untilAsserted(() -> {
			assertThat(left(policy.policy())).isEqualTo(withoutPlan);
			assertThat(left(policy.forPlan("pro").orElseThrow().policy())).isEqualTo(ofPlan);
		});
	}

	private long left(Policy policy) {
		return this.application.bean(RateLimiter.class)
			.peek(RateLimitRequest.of(policy, Identifier.ip("127.0.0.1")))
			.statuses()
			.get(0)
			.remaining();
	}

	@Test
	void deniedCallCountsByTheStatusOfItsResponse() {
		assertStatus("/denied", 200);
		for (int i = 1; i <= 3; i++) {
			assertThat(this.application.get("/denied").body()).contains("\"one\"").doesNotContain("\"denied\"");
			this.application.assertUsed("denied", i);
		}
		assertThat(this.application.get("/denied").body()).contains("\"denied\"");
	}

	@Test
	void headersOfForbiddenRequestTellOfItsPath() {
		HttpResponse<String> response = assertStatus("/api/keyed", 403);
		assertThat(response.headers().firstValue("RateLimit").orElseThrow()).startsWith("\"api\";r=4;");
		this.application.assertUsed("api", 1);
	}

	private HttpResponse<String> assertStatus(String path, int status, String... headers) {
		HttpResponse<String> response = this.application.get(path, headers);
		assertThat(response.statusCode()).isEqualTo(status);
		return response;
	}

	@OpenApplication
	@Import({ Limited.class, Handlers.class })
	static class Application {

		@Bean
		PlanResolver planResolver() {
			return (user, request) -> "pro";
		}

		/**
		 * Calls what the header X-Call names, before the limiter and before the login.
		 */
		@Bean
		static FilterRegistrationBean<Filter> earlyFilter(Limited limited) {
			return TestApplication.filterAt(Ordered.HIGHEST_PRECEDENCE + 1000, (request, response, chain) -> {
				String call = ((HttpServletRequest) request).getHeader("X-Call");
				if (call != null) {
					Map.<String, Runnable>of("api", limited::api, "same", limited::same, "other", limited::other,
							"told", limited::told)
						.get(call)
						.run();
				}
				chain.doFilter(request, response);
			});
		}

		/** Between the filters of the limiter. */
		@Bean
		static FilterRegistrationBean<HeaderLogin> login() {
			return HeaderLogin.at(-100);
		}

	}

	static class Limited {

		@RateLimited("api")
		public void api() {
		}

		@RateLimited("same")
		public void same() {
		}

		@RateLimited("other")
		public void other() {
		}

		@RateLimited("told")
		public void told() {
		}

	}

	@RestController
	static class Handlers {

		@GetMapping({ "/api/light", "/same", "/other" })
		String light() {
			return "served";
		}

		@GetMapping("/told")
		String told(HttpServletRequest request) {
			CostSettlement.of(request).settle("told", 5);
			return "served";
		}

		@GetMapping("/api/heavy")
		@RateLimited(policy = "api", cost = 3)
		String heavy() {
			return "served";
		}

		@GetMapping("/api/own")
		@RateLimited(policy = "api", cost = 3, identifiers = "header:X-User")
		String own() {
			return "served";
		}

		@GetMapping("/denied")
		@RateLimited("one")
		String one() {
			return "served";
		}

		@GetMapping("/api/keyed")
		@RateLimited("keyed")
		String keyed() {
			return "served";
		}

		@GetMapping("/api/fallback")
		@RateLimited(policy = "api", cost = 5, fallbackMethod = "instead")
		String withFallback() {
			return "served";
		}

		private String instead() {
			return "instead";
		}

	}

}
