package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
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
class AccessListIT {

	@RegisterExtension
	static final TestApplications applications = new TestApplications();

	private static final String[] LIMITS = { "ratelimit.policies.address.paths=/address",
			"ratelimit.policies.address.limits=1/m", "ratelimit.policies.user.paths=/user",
			"ratelimit.policies.user.limits=1/m", "ratelimit.policies.user.identifiers=user" };

	@ParameterizedTest
	@ValueSource(strings = { "/address", "/user", "/annotated" })
	void allowedClientIsNeverCounted(String path) {
		TestApplication application = application("ratelimit.allow=header:X-Api-Key:k1");
		for (int i = 0; i < 3; i++) {
			HttpResponse<String> response = get(application, path, "anna", "X-Api-Key", "k1");
			assertThat(response.statusCode()).isEqualTo(200);
			assertThat(response.headers().firstValue("RateLimit")).isEmpty();
		}
		assertThat(application.decisions()).isZero();
		assertThat(get(application, path, "anna").statusCode()).isEqualTo(200);
		assertThat(get(application, path, "anna", "X-Api-Key", "k2").statusCode()).isEqualTo(429);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/address", "/user", "/annotated", "/free", "/nothing" })
	void deniedClientIsForbiddenEverywhere(String path) {
		TestApplication application = application("ratelimit.deny=ip:127.0.0.0/8");
		assertForbidden(get(application, path, "anna"));
		assertThat(application.decisions()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/address", "/user", "/annotated", "/free" })
	void deniedUserIsForbiddenEverywhere(String path) {
		TestApplication application = application("ratelimit.deny=user:anna");
		assertForbidden(get(application, path, "anna"));
		assertThat(get(application, path, "berta").statusCode()).isIn(200, 429);
	}

	@Test
	void denyWinsOverAllow() {
		TestApplication application = application("ratelimit.deny=user:anna", "ratelimit.allow=ip:127.0.0.1");
		assertForbidden(get(application, "/address", "anna"));
		assertThat(get(application, "/address", "berta").statusCode()).isEqualTo(200);
		assertThat(get(application, "/address", "berta").statusCode()).isEqualTo(200);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/user", "/annotated" })
	void allowedUserIsNeverCountedByWhatComesAfterLogin(String path) {
		TestApplication application = application("ratelimit.allow=user:anna");
		for (int i = 0; i < 3; i++) {
			assertThat(get(application, path, "anna").statusCode()).isEqualTo(200);
		}
		assertThat(application.decisions()).isZero();
		assertThat(get(application, path, "berta").statusCode()).isEqualTo(200);
		assertThat(get(application, path, "berta").statusCode()).isEqualTo(429);
	}

	/** Users are unknown before the login, so what was counted before is refunded. */
	@Test
	void allowedUserUsesNothingOfWhatComesBeforeLogin() {
		TestApplication application = application("ratelimit.allow=user:anna");
		for (int i = 0; i < 3; i++) {
			assertThat(get(application, "/address", "anna").statusCode()).isEqualTo(200);
		}
		assertThat(get(application, "/address", "berta").statusCode()).isEqualTo(200);
		assertThat(get(application, "/address", "berta").statusCode()).isEqualTo(429);
		assertThat(get(application, "/address", "anna").statusCode()).isEqualTo(429);
	}

	@Test
	void preflightOfDeniedClientIsDeniedWhenCorsCodeMayNotAnswerIt() {
		TestApplication application = application("ratelimit.deny=ip:127.0.0.1");
		assertThat(application
			.send("OPTIONS", "/address", "Origin", "https://example.com", "Access-Control-Request-Method", "GET")
			.body()).contains("Forbidden");
	}

	private static void assertForbidden(HttpResponse<String> response) {
		assertThat(response.statusCode()).isEqualTo(403);
		assertThat(response.headers().allValues("Content-Type")).containsExactly("application/problem+json");
		assertThat(response.headers().firstValue("Retry-After")).isEmpty();
		assertThat(JsonMapper.shared().readTree(response.body()))
			.hasToString("{\"type\":\"about:blank\",\"title\":\"Forbidden\",\"status\":403}");
	}

	private static TestApplication application(String... properties) {
		String[] all = new String[LIMITS.length + properties.length];
		System.arraycopy(LIMITS, 0, all, 0, LIMITS.length);
		System.arraycopy(properties, 0, all, LIMITS.length, properties.length);
		return applications.get(Application.class, all);
	}

	private static HttpResponse<String> get(TestApplication application, String path, String user, String... headers) {
		String[] all = new String[headers.length + 2];
		all[0] = "Authorization";
		all[1] = "Basic " + Base64.getEncoder().encodeToString((user + ":secret").getBytes(StandardCharsets.UTF_8));
		System.arraycopy(headers, 0, all, 2, headers.length);
		return application.get(path, all);
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
