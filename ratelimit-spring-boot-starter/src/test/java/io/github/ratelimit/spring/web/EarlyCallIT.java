package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

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
import org.junit.jupiter.api.BeforeEach;
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
 * Requests in which filters of the application call limited methods, before and after the
 * path is limited by the same policy, and before the login, so without a plan.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		ratelimit:
		  plan-cache-ttl: 0
		  policies:
		    api: { paths: /api, routes: [{ paths: /dear, cost: 3 }], limits: 5/m }
		    same: { paths: /same, limits: 10/m, plans.pro.limits: 20/m }
		    other: { paths: /other, limits: 10/m, plans.pro.limits: 20/2m }
		    failed: { paths: /failed, limits: 10/m, plans.pro.limits: 20/2m, count-when: 'status in [401]' }
		    told: { paths: /told, limits: 10/m, plans.pro.limits: 20/2m }
		""")
class EarlyCallIT {

	@Parameter
	TestApplication application;

	@BeforeEach
	void forget() {
		this.application.bean(Calls.class).forget();
	}

	@Test
	void callAndPathPayEachTheirCost() {
		HttpResponse<String> response = this.application.get("/dear", "X-Call", "cheap");
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(response.headers().firstValue("RateLimit")).hasValue("\"api\";r=1;t=60");
		this.application.assertUsed("api", 1 + 3);
	}

	@Test
	void callsThatFollowThePathPayAsWell() {
		assertThat(this.application.get("/api", "X-Call", "dear", "X-Again", "cheap").statusCode()).isEqualTo(200);
		this.application.assertUsed("api", 3 + 1 + 1);
	}

	@Test
	void callStaysPaidWhenThePathIsDenied() {
		assertThat(this.application.get("/dear").statusCode()).isEqualTo(200);
		HttpResponse<String> denied = this.application.get("/dear", "X-Call", "cheap");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(this.application.bean(Calls.class).served()).isOne();
		this.application.assertUsed("api", 3 + 1);
	}

	@Test
	void requestIsAnsweredWhenTheCallOfAFilterIsDenied() {
		assertThat(this.application.get("/dear").statusCode()).isEqualTo(200);
		HttpResponse<String> denied = this.application.get("/unlimited", "X-Call", "dear");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().firstValue("Retry-After")).hasValue("60");
		assertThat(this.application.bean(Calls.class).served()).isZero();
	}

	@Test
	void callAndPathUseOneCountWhereThePlanHasTheSameWindows() {
		HttpResponse<String> response = getAsAnna("/same", "same");
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(response.headers().firstValue("RateLimit")).hasValue("\"same\";r=18;t=60");
		assertLeft("same", 8, 18);
	}

	@Test
	void planWithOtherWindowsHasSeparateCount() {
		assertThat(getAsAnna("/other", "other").statusCode()).isEqualTo(200);
		assertLeft("other", 9, 19);
	}

	@Test
	void responsesThatDoNotCountAreRefundedWhereTheyWereCounted() {
		assertThat(getAsAnna("/failed", "failed").statusCode()).isEqualTo(200);
		assertLeft("failed", 10, 20);
	}

	@Test
	void trueCostIsThatOfEachCount() {
		assertThat(getAsAnna("/told", "told").statusCode()).isEqualTo(200);
		assertLeft("told", 5, 15);
	}

	private HttpResponse<String> getAsAnna(String path, String call) {
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

		@GetMapping({ "/api", "/dear", "/same", "/other", "/failed" })
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
			return filter(calls, "X-Call", Ordered.HIGHEST_PRECEDENCE + 1000);
		}

		/** Comes after the limiter. */
		@Bean
		static FilterRegistrationBean<CallingFilter> lateFilter(Calls calls) {
			return filter(calls, "X-Again", Ordered.LOWEST_PRECEDENCE);
		}

		private static FilterRegistrationBean<CallingFilter> filter(Calls calls, String header, int order) {
			FilterRegistrationBean<CallingFilter> filter = new FilterRegistrationBean<>(
					new CallingFilter(calls, header));
			filter.setName(header);
			filter.setOrder(order);
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

		private final AtomicInteger served = new AtomicInteger();

		public int served() {
			return this.served.get();
		}

		public void forget() {
			this.served.set(0);
		}

		@RateLimited("api")
		public void cheap() {
			this.served.incrementAndGet();
		}

		@RateLimited(policy = "api", cost = 3)
		public void dear() {
			this.served.incrementAndGet();
		}

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

		private final Map<String, Runnable> calls;

		private final String header;

		CallingFilter(Calls calls, String header) {
			this.calls = Map.of("cheap", calls::cheap, "dear", calls::dear, "same", calls::same, "other", calls::other,
					"failed", calls::failed, "told", calls::told);
			this.header = header;
		}

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
				throws ServletException, IOException {
			String call = request.getHeader(this.header);
			if (call != null) {
				this.calls.get(call).run();
			}
			chain.doFilter(request, response);
		}

		@Override
		protected String getAlreadyFilteredAttributeName() {
			return super.getAlreadyFilteredAttributeName() + this.header;
		}

	}

}
