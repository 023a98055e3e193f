package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Policies beside Spring Security, with HTTP Basic.
 */
class RateLimitSecurityIT {

	private static TestApplication application;

	@BeforeAll
	static void start() {
		application = TestApplication.start(Application.class, "ratelimit.policies.user.paths=/user",
				"ratelimit.policies.user.limits=2/m", "ratelimit.policies.user.identifiers=user",
				"ratelimit.policies.address.paths=/address", "ratelimit.policies.address.limits=3/m",
				"ratelimit.policies.both.paths=/both", "ratelimit.policies.both.limits=2/m",
				"ratelimit.policies.both.identifiers=ip+user");
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@BeforeEach
	void forget() {
		application.forget();
	}

	@Test
	void everyUserHasOwnCount() {
		assertThat(get("/user", "anna", "secret").statusCode()).isEqualTo(200);
		assertThat(get("/user", "anna", "secret").statusCode()).isEqualTo(200);
		HttpResponse<String> denied = get("/user", "anna", "secret");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().allValues("RateLimit")).containsExactly("\"user\";r=0;t=60");
		assertThat(get("/user", "berta", "secret").statusCode()).isEqualTo(200);
	}

	@Test
	void refusedLoginIsNotCountedWhenPolicyNeedsUser() {
		for (int i = 0; i < 3; i++) {
			assertThat(get("/user", "anna", "wrong").statusCode()).isEqualTo(401);
		}
		assertThat(application.decisions()).isZero();
		assertThat(get("/user", "anna", "secret").statusCode()).isEqualTo(200);
	}

	@Test
	void refusedLoginIsCountedWhenPolicyDoesNotNeedUser() {
		for (int i = 0; i < 3; i++) {
			HttpResponse<String> refused = get("/address", "anna", "wrong");
			assertThat(refused.statusCode()).isEqualTo(401);
			assertThat(refused.headers().allValues("X-Rate-Limit-Remaining")).containsExactly("" + (2 - i));
		}
		assertThat(get("/address", "anna", "wrong").statusCode()).isEqualTo(429);
		assertThat(get("/address", "anna", "secret").statusCode()).isEqualTo(429);
	}

	@Test
	void combinationWithUserIsCountedForEveryUser() {
		get("/both", "anna", "secret");
		get("/both", "anna", "secret");
		assertThat(get("/both", "anna", "secret").statusCode()).isEqualTo(429);
		assertThat(get("/both", "berta", "secret").statusCode()).isEqualTo(200);
	}

	@Test
	void everyUserHasOwnCountWhenSecurityHasAnotherOrder() {
		try (TestApplication other = TestApplication.start(Application.class, "spring.security.filter.order=0",
				"ratelimit.policies.user.paths=/user", "ratelimit.policies.user.limits=1/m",
				"ratelimit.policies.user.identifiers=user")) {
			assertThat(get(other, "/user", "anna", "secret").statusCode()).isEqualTo(200);
			assertThat(get(other, "/user", "berta", "secret").statusCode()).isEqualTo(200);
			assertThat(get(other, "/user", "anna", "secret").statusCode()).isEqualTo(429);
			assertThat(get(other, "/user", "berta", "secret").statusCode()).isEqualTo(429);
		}
	}

	private static HttpResponse<String> get(String path, String user, String password) {
		return get(application, path, user, password);
	}

	private static HttpResponse<String> get(TestApplication application, String path, String user, String password) {
		String credentials = Base64.getEncoder()
			.encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
		return application.get(path, "Authorization", "Basic " + credentials);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@RestController
	static class Application {

		@GetMapping({ "/user", "/address", "/both" })
		String get() {
			return "served";
		}

		@Bean
		InMemoryUserDetailsManager users() {
			return new InMemoryUserDetailsManager(User.withUsername("anna").password("{noop}secret").build(),
					User.withUsername("berta").password("{noop}secret").build());
		}

	}

}
