package io.github.ratelimit.spring.web;

import java.io.IOException;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.PlanResolver;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;

import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.filter.OncePerRequestFilter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Policies with plans beside a login of the application's own, without Spring Security.
 */
@StartApplication("""
		ratelimit:
		  plan-cache-ttl: 0
		  policies:
		    tariff: { paths: /tariff, limits: 2/m, identifiers: [ip, user], plans.pro.limits: 4/m }
		    login: { paths: /login, limits: 3/15m, count-when: 'status in [401]' }
		""")
class OwnLoginIT {

	@Parameter
	TestApplication application;

	@Test
	void policyWithPlansDoesNotCountFailedLogins() {
		assertThat(this.application.statuses(9, "/tariff", "X-Key", "anna:wrong")).containsOnly(401);
		assertThat(this.application.statuses(1, "/tariff", "X-Key", "anna:secret")).containsExactly(200);
	}

	@Test
	void whoComesThroughHasThePlan() {
		assertThat(this.application.statuses(5, "/tariff", "X-Key", "anna:secret")).containsExactly(200, 200, 200, 200,
				429);
	}

	@Test
	void failedLoginsAmongRightOnesAreCounted() {
		for (int failed = 0; failed < 3; failed++) {
			assertThat(this.application.statuses(4, "/login", "X-Key", "anna:secret")).containsOnly(200);
			assertThat(this.application.statuses(1, "/login", "X-Key", "anna:wrong")).containsExactly(401);
		}
		assertThat(this.application.statuses(1, "/login", "X-Key", "anna:secret")).containsExactly(429);
	}

	@Test
	void userKnownBeforeIsCountedOnceByThePlan() {
		assertThat(this.application.statuses(5, "/tariff", "X-User", "anna", "X-Key", "anna:secret"))
			.containsExactly(200, 200, 200, 200, 429);
		assertThat(this.application.decisions()).isEqualTo(5);
	}

	@OpenApplication
	@RestController
	static class Application {

		@GetMapping({ "/tariff", "/login" })
		String get() {
			return "served";
		}

		@Bean
		PlanResolver planResolver() {
			return (user, request) -> user.getName().equals("anna") ? "pro" : null;
		}

		/** Between the two filters of the limiter. */
		@Bean
		FilterRegistrationBean<KeyLogin> login() {
			return TestApplication.filterAt(-100, new KeyLogin());
		}

		/** Before both filters of the limiter. */
		@Bean
		FilterRegistrationBean<HeaderLogin> known() {
			return HeaderLogin.at(Ordered.HIGHEST_PRECEDENCE);
		}

	}

	/** Answers wrong keys by itself. */
	private static final class KeyLogin extends OncePerRequestFilter {

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
				throws ServletException, IOException {
			String[] key = request.getHeader("X-Key").split(":");
			if (!key[1].equals("secret")) {
				response.setStatus(HttpServletResponse.SC_UNAUTHORIZED);
				return;
			}
			chain.doFilter(HeaderLogin.withUser(request, key[0]), response);
		}

	}

}
