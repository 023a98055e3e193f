package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.security.Principal;
import java.util.stream.IntStream;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.PlanResolver;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
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
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		ratelimit:
		  plan-cache-ttl: 0
		  policies:
		    tariff: { paths: /tariff, limits: 2/m, identifiers: [ip, user], plans.pro.limits: 4/m }
		    login: { paths: /login, limits: 3/15m, count-when: 'status in [401]', plans.pro.limits: 1000/m }
		""")
class OwnLoginIT {

	@Parameter
	TestApplication application;

	@Test
	void failedLoginsCountByThePolicyItself() {
		assertThat(statuses("/tariff", "anna:wrong", 3)).containsExactly(401, 401, 429);
		assertThat(statuses("/tariff", "anna:secret", 1)).containsExactly(429);
		this.application.assertUsed("tariff", 0);
	}

	@Test
	void whoComesThroughHasThePlan() {
		assertThat(statuses("/tariff", "anna:secret", 5)).containsExactly(200, 200, 200, 200, 429);
	}

	@Test
	void failedLoginsAmongRightOnesAreCounted() {
		for (int failed = 0; failed < 3; failed++) {
			assertThat(statuses("/login", "anna:secret", 4)).containsOnly(200);
			assertThat(statuses("/login", "anna:wrong", 1)).containsExactly(401);
		}
		assertThat(statuses("/login", "anna:secret", 1)).containsExactly(429);
	}

	@Test
	void userWhoIsKnownBeforeIsCountedOnceByThePlan() {
		int[] statuses = IntStream.range(0, 5)
			.map((i) -> this.application.get("/tariff", "X-Known", "anna", "X-Key", "anna:secret").statusCode())
			.toArray();
		assertThat(statuses).containsExactly(200, 200, 200, 200, 429);
		assertThat(this.application.decisions()).isEqualTo(statuses.length);
	}

	private int[] statuses(String path, String key, int requests) {
		return IntStream.range(0, requests).map((i) -> this.application.get(path, "X-Key", key).statusCode()).toArray();
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
			FilterRegistrationBean<KeyLogin> registration = new FilterRegistrationBean<>(new KeyLogin());
			registration.setOrder(-100);
			return registration;
		}

		/** Before both filters of the limiter. */
		@Bean
		FilterRegistrationBean<KnownUser> known() {
			FilterRegistrationBean<KnownUser> registration = new FilterRegistrationBean<>(new KnownUser());
			registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
			return registration;
		}

	}

	/** Knows some users from elsewhere. */
	private static final class KnownUser extends OncePerRequestFilter {

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
				throws ServletException, IOException {
			String name = request.getHeader("X-Known");
			chain.doFilter(new HttpServletRequestWrapper(request) {

				@Override
				public @Nullable Principal getUserPrincipal() {
					return (name != null) ? () -> name : null;
				}

			}, response);
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
			chain.doFilter(new HttpServletRequestWrapper(request) {

				@Override
				public @Nullable Principal getUserPrincipal() {
					return () -> key[0];
				}

			}, response);
		}

	}

}
