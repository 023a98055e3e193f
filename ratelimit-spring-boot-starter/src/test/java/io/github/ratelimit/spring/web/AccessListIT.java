package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.stream.Stream;

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
			HttpResponse<String> response = get(path, "berta", "X-Api-Key", "k1");
			assertThat(response.statusCode()).isEqualTo(200);
			assertThat(response.headers().firstValue("RateLimit")).isEmpty();
		}
		assertThat(this.application.decisions()).isZero();
		assertThat(get(path, "berta").statusCode()).isEqualTo(200);
		assertThat(get(path, "berta", "X-Api-Key", "k2").statusCode()).isEqualTo(429);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/address", "/user", "/annotated", "/free", "/nothing" })
	void deniedClientIsForbiddenEverywhere(String path) {
		assertForbidden(get(path, "berta", DENIED));
		assertThat(this.application.decisions()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/address", "/user", "/annotated", "/free" })
	void deniedUserIsForbiddenEverywhere(String path) {
		assertForbidden(get(path, "clara"));
		assertThat(get(path, "berta").statusCode()).isIn(200, 429);
	}

	@Test
	void denyWinsOverAllow() {
		String[] allowed = { "X-Forwarded-For", "198.51.100.1" };
		assertForbidden(get("/address", "clara", allowed));
		assertThat(get("/address", "berta", allowed).statusCode()).isEqualTo(200);
		assertThat(get("/address", "berta", allowed).statusCode()).isEqualTo(200);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/user", "/annotated" })
	void allowedUserIsNeverCountedByWhatComesAfterLogin(String path) {
		for (int i = 0; i < 3; i++) {
			assertThat(get(path, "anna").statusCode()).isEqualTo(200);
		}
		assertThat(this.application.decisions()).isZero();
		assertThat(get(path, "berta").statusCode()).isEqualTo(200);
		assertThat(get(path, "berta").statusCode()).isEqualTo(429);
	}

	/** Users are unknown before the login, so what was counted before is refunded. */
	@Test
	void allowedUserUsesNothingOfWhatComesBeforeLogin() {
		for (int i = 0; i < 3; i++) {
			assertThat(get("/address", "anna").statusCode()).isEqualTo(200);
		}
		assertThat(get("/address", "berta").statusCode()).isEqualTo(200);
		assertThat(get("/address", "berta").statusCode()).isEqualTo(429);
		assertThat(get("/address", "anna").statusCode()).isEqualTo(429);
	}

	@Test
	void preflightOfDeniedClientIsDeniedWhenCorsCodeMayNotAnswerIt() {
		assertThat(this.application
			.send("OPTIONS", "/address", "Origin", "https://example.com", "Access-Control-Request-Method", "GET",
					DENIED[0], DENIED[1])
			.body()).contains("Forbidden");
	}

	private static void assertForbidden(HttpResponse<String> response) {
		assertThat(response.statusCode()).isEqualTo(403);
		assertThat(response.headers().allValues("Content-Type")).containsExactly("application/problem+json");
		assertThat(response.headers().firstValue("Retry-After")).isEmpty();
		assertThat(JsonMapper.shared().readTree(response.body()))
			.hasToString("{\"type\":\"about:blank\",\"title\":\"Forbidden\",\"status\":403}");
	}

	private HttpResponse<String> get(String path, String user, String... headers) {
		return this.application.get(path,
				Stream.concat(Stream.of("Authorization", TestUsers.basic(user + ":secret")), Stream.of(headers))
					.toArray(String[]::new));
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
