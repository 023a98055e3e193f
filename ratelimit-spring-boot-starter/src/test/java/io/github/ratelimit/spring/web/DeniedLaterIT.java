package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.Plan;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;

import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.filter.OncePerRequestFilter;

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
			for (int i = 1; i <= 3; i++) {
				assertThat(application.get("/denied").body()).contains("\"few\"").doesNotContain("\"denied\"");
				application.assertUsed("denied", i);
			}
			assertThat(application.get("/denied").body()).contains("\"denied\"");
		}
	}

	@Test
	void whatAnEarlierCallHasPaidIsNotGivenBackWhenThePathIsDenied() {
		try (TestApplication application = TestApplication.start(EarlyApplication.class,
				"ratelimit.policies.api.paths=/api", "ratelimit.policies.api.limits=5/d")) {
			for (int i = 0; i < 12; i++) {
				application.get("/api");
			}
			assertThat(application.bean(Calls.class).served()).isBetween(1, 5);
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

		@GetMapping("/denied")
		@RateLimited("few")
		String denied() {
			return "served";
		}

	}

	static class EarlyApplication extends TestApplication.Served {

		@Bean
		static Calls calls() {
			return new Calls();
		}

		@Bean
		static FilterRegistrationBean<CallingFilter> callingFilter(Calls calls) {
			FilterRegistrationBean<CallingFilter> filter = new FilterRegistrationBean<>(new CallingFilter(calls));
			filter.setOrder(Ordered.HIGHEST_PRECEDENCE + 1000);
			return filter;
		}

	}

	static class Calls {

		private final AtomicInteger served = new AtomicInteger();

		@RateLimited("api")
		public void serve() {
			this.served.incrementAndGet();
		}

		public int served() {
			return this.served.get();
		}

	}

	static final class CallingFilter extends OncePerRequestFilter {

		private final Calls calls;

		CallingFilter(Calls calls) {
			this.calls = calls;
		}

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
				throws ServletException, IOException {
			this.calls.serve();
			chain.doFilter(request, response);
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
