package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;

import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients that are never limited or always denied, beside Spring Security.
 */
@StartApplication("""
		ratelimit:
		  ip.trusted-proxies: 127.0.0.1
		  allow: [header:X-Api-Key:k1, user:anna, ip:198.51.100.1]
		  deny: [user:clara, ip:203.0.113.0/24]
		  policies:
		    address: { paths: /address, limits: 1/m }
		    user: { paths: /user, limits: 1/m, identifiers: user }
		""")
class AccessListIT {

	private static final String[] DENIED = { "X-Forwarded-For", "203.0.113.7" };

	@Parameter
	TestApplication application;

	@ParameterizedTest
	@ValueSource(strings = { "/address", "/user", "/annotated" })
	void allowedClientIsNeverCounted(String path) {
		for (int i = 0; i < 3; i++) {
			HttpResponse<String> response = this.application.getAs("berta:secret", path, "X-Api-Key", "k1");
			assertThat(response.statusCode()).isEqualTo(200);
			assertThat(response.headers().firstValue("RateLimit")).isEmpty();
		}
		assertThat(this.application.decisions()).isZero();
		assertThat(this.application.getAs("berta:secret", path).statusCode()).isEqualTo(200);
		assertThat(this.application.getAs("berta:secret", path, "X-Api-Key", "k2").statusCode()).isEqualTo(429);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/address", "/user", "/annotated", "/free", "/nothing" })
	void deniedClientIsForbiddenEverywhere(String path) {
		assertForbidden(this.application.getAs("berta:secret", path, DENIED));
		assertThat(this.application.decisions()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/address", "/user", "/annotated", "/free" })
	void deniedUserIsForbiddenEverywhere(String path) {
		assertForbidden(this.application.getAs("clara:secret", path));
		assertThat(this.application.getAs("berta:secret", path).statusCode()).isIn(200, 429);
	}

	@Test
	void denyWinsOverAllow() {
		String[] allowed = { "X-Forwarded-For", "198.51.100.1" };
		assertForbidden(this.application.getAs("clara:secret", "/address", allowed));
		assertThat(this.application.getAs("berta:secret", "/address", allowed).statusCode()).isEqualTo(200);
		assertThat(this.application.getAs("berta:secret", "/address", allowed).statusCode()).isEqualTo(200);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/user", "/annotated" })
	void allowedUserIsNeverCountedByWhatComesAfterLogin(String path) {
		for (int i = 0; i < 3; i++) {
			assertThat(this.application.getAs("anna:secret", path).statusCode()).isEqualTo(200);
		}
		assertThat(this.application.decisions()).isZero();
		assertThat(this.application.getAs("berta:secret", path).statusCode()).isEqualTo(200);
		assertThat(this.application.getAs("berta:secret", path).statusCode()).isEqualTo(429);
	}

	/** Users are unknown before the login, so what was counted before is refunded. */
	@Test
	void allowedUserUsesNothingOfWhatComesBeforeLogin() {
		for (int i = 0; i < 3; i++) {
			assertThat(this.application.getAs("anna:secret", "/address").statusCode()).isEqualTo(200);
		}
		assertThat(this.application.getAs("berta:secret", "/address").statusCode()).isEqualTo(200);
		assertThat(this.application.getAs("berta:secret", "/address").statusCode()).isEqualTo(429);
		assertThat(this.application.getAs("anna:secret", "/address").statusCode()).isEqualTo(429);
	}

	@Test
	void preflightOfDeniedClientIsDeniedWhenOthersMayAnswer() {
		assertForbidden(this.application.send("OPTIONS", "/address", "Origin", "https://example.com",
				"Access-Control-Request-Method", "GET", DENIED[0], DENIED[1]));
	}

	private static void assertForbidden(HttpResponse<String> response) {
		assertThat(response.statusCode()).isEqualTo(403);
		assertThat(response.headers().allValues("Content-Type")).containsExactly("application/problem+json");
		assertThat(response.headers().firstValue("Retry-After")).isEmpty();
		assertThat(JsonMapper.shared().readTree(response.body()))
			.hasToString("{\"type\":\"about:blank\",\"title\":\"Forbidden\",\"status\":403}");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(TestUsers.class)
	@RestController
	static class Application {

		@GetMapping({ "/address", "/user", "/free" })
		String get() {
			return "served";
		}

		@RateLimited(limits = "1/m", identifiers = "user")
		@GetMapping("/annotated")
		String annotated() {
			return "served";
		}

	}

}
