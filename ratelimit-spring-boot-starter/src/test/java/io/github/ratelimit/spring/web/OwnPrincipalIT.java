package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.security.Principal;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.web.filter.OncePerRequestFilter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Users whom a filter of the application's own knows.
 */
class OwnPrincipalIT {

	@ParameterizedTest
	@ValueSource(classes = { Application.class, OnJetty.class })
	void userIsKnownWhenTheSecondFilterComesAfterThatOfTheApplication(Class<?> configuration) {
		try (TestApplication application = TestApplication.start(configuration, "ratelimit.filter.after-login-order=10",
				"ratelimit.policies.api.paths=/api", "ratelimit.policies.api.limits=1/m",
				"ratelimit.policies.api.identifiers=user")) {
			assertThat(application.get("/api", "X-User", "anna").statusCode()).isEqualTo(200);
			assertThat(application.get("/api", "X-User", "berta").statusCode()).isEqualTo(200);
			assertThat(application.get("/api", "X-User", "anna").statusCode()).isEqualTo(429);
		}
	}

	static class Application extends TestApplication.Served {

		@Bean
		FilterRegistrationBean<OncePerRequestFilter> login() {
			FilterRegistrationBean<OncePerRequestFilter> registration = new FilterRegistrationBean<>(new Login());
			registration.setOrder(0);
			return registration;
		}

	}

	@Import(JettyServer.class)
	static class OnJetty extends Application {

	}

	static class Login extends OncePerRequestFilter {

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
				throws ServletException, IOException {
			chain.doFilter(new HttpServletRequestWrapper(request) {

				@Override
				public @Nullable Principal getUserPrincipal() {
					return () -> request.getHeader("X-User");
				}

			}, response);
		}

	}

}
