package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.filter.OncePerRequestFilter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Requests in which a filter of the application has called a limited method before login,
 * so without a plan, and whose path is limited by the same policy for a plan.
 */
@StartApplication("""
		ratelimit:
		  plan-cache-ttl: 0
		  policies:
		    same: { paths: /same, limits: 10/m, plans.pro.limits: 20/m }
		    other: { paths: /other, limits: 10/m, plans.pro.limits: 20/2m }
		    failed: { paths: /failed, limits: 10/m, plans.pro.limits: 20/2m, count-when: 'status in [401]' }
		    told: { paths: /told, limits: 10/m, plans.pro.limits: 20/2m }
		""")
class EarlyCallPlanIT {

	@Parameter
	TestApplication application;

	@Test
	void callAndPathUseOneCountWhereThePlanHasTheSameWindows() {
		HttpResponse<String> response = get("/same", "same");
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(response.headers().firstValue("RateLimit")).hasValue("\"same\";r=18;t=60");
		assertLeft("same", 8, 18);
	}

	@Test
	void planWithOtherWindowsHasSeparateCount() {
		assertThat(get("/other", "other").statusCode()).isEqualTo(200);
		assertLeft("other", 9, 19);
	}

	@Test
	void responsesThatDoNotCountAreRefundedWhereTheyWereCounted() {
		assertThat(get("/failed", "failed").statusCode()).isEqualTo(200);
		assertLeft("failed", 10, 20);
	}

	@Test
	void trueCostIsThatOfEachCount() {
		assertThat(get("/told", "told").statusCode()).isEqualTo(200);
		assertLeft("told", 5, 15);
	}

	private HttpResponse<String> get(String path, String call) {
		return this.application.get(path, "Authorization", TestUsers.basic("anna:secret"), "X-Call", call);
	}

	/** The client may have its response a moment before costs are settled. */
	private void assertLeft(String name, long withoutPlan, long pro) {
		IdentifiedPolicy policy = this.application.bean(ConfiguredPolicies.class).find(name).orElseThrow();
		Policy ofPlan = policy.forPlan("pro").orElseThrow().policy();
		await().atMost(Duration.ofSeconds(10)).untilAsserted(() -> {
			assertThat(left(policy.policy())).as("left without a plan").isEqualTo(withoutPlan);
			assertThat(left(ofPlan)).as("left of the plan").isEqualTo(pro);
		});
	}

	private long left(Policy policy) {
		return this.application.bean(RateLimiter.class)
			.peek(RateLimitRequest.of(policy, Identifier.ip("127.0.0.1")))
			.statuses()
			.get(0)
			.remaining();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(TestUsers.class)
	@RestController
	static class Application {

		@GetMapping({ "/same", "/other", "/failed" })
		public String get() {
			return "served";
		}

		@GetMapping("/told")
		public String told(HttpServletRequest request) {
			CostSettlement.of(request).settle("told", 5);
			return "served";
		}

		@Bean
		PlanResolver planResolver() {
			return (user, request) -> "pro";
		}

		@Bean
		static Calls calls() {
			return new Calls();
		}

		/** Comes before the limiter and before login. */
		@Bean
		static FilterRegistrationBean<CallingFilter> earlyFilter(Calls calls) {
			FilterRegistrationBean<CallingFilter> filter = new FilterRegistrationBean<>(new CallingFilter(calls));
			filter.setOrder(Ordered.HIGHEST_PRECEDENCE + 1000);
			return filter;
		}

		@Bean
		SecurityFilterChain security(HttpSecurity http) {
			return http.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
				.httpBasic(Customizer.withDefaults())
				.build();
		}

	}

	static class Calls {

		@RateLimited("same")
		public void same() {
		}

		@RateLimited("other")
		public void other() {
		}

		@RateLimited("failed")
		public void failed() {
		}

		@RateLimited("told")
		public void told() {
		}

	}

	/** Calls what a header of the request names. */
	static final class CallingFilter extends OncePerRequestFilter {

		private final Calls calls;

		CallingFilter(Calls calls) {
			this.calls = calls;
		}

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
				throws ServletException, IOException {
			switch (request.getHeader("X-Call")) {
				case "same" -> this.calls.same();
				case "other" -> this.calls.other();
				case "failed" -> this.calls.failed();
				case "told" -> this.calls.told();
				default -> throw new IllegalArgumentException(request.getHeader("X-Call"));
			}
			chain.doFilter(request, response);
		}

	}

}
