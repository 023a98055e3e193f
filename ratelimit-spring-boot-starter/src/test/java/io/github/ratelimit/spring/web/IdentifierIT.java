package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.Set;

import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who is counted together, and what becomes of requests without an identifier.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		ratelimit:
		  filter.after-login-order: 10
		  identifiers.tenant: "#request.getHeader('X-Tenant')"
		  deny: plan:denied
		  policies:
		    cookie: { paths: /cookie, limits: 1/m, identifiers: cookie:huge }
		    path: { paths: ['/path/{id}', '/path/{id}/more'], limits: 1/m, identifiers: path }
		    method: { paths: /method, limits: 1/m, identifiers: method }
		    tenant: { paths: /tenant, limits: 1/m, identifiers: tenant }
		    bean: { paths: /bean, limits: 1/m, identifiers: ip+plan }
		    skip: { paths: /skip, limits: 1/m, identifiers: header:X-User, missing-identifier: skip }
		    deny: { paths: /deny, limits: 1/m, identifiers: [ip, header:X-User], missing-identifier: deny }
		    user: { paths: /user, limits: 1/m, identifiers: user }
		    named: { limits: 1/m, identifiers: header:X-User, missing-identifier: deny }
		""")
class IdentifierIT {

	@Parameter
	TestApplication application;

	@Test
	void everyCookieHasOwnCount() {
		assertCounts("/cookie", "Cookie", "huge=a", "Cookie", "other=x; huge=b");
	}

	@Test
	void hugeCookieMakesNoHugeRedisKey() {
		String huge = "x".repeat(6000);
		assertCounts("/cookie", "Cookie", "huge=" + huge + "1", "Cookie", "huge=" + huge + "2");
		Set<String> keys = TestRedis.client().keys("*cookie%3Ahuge*");
		assertThat(keys).isNotEmpty().allSatisfy((key) -> assertThat(key).hasSizeLessThan(200));
	}

	@Test
	void pathsOfOnePatternShareCount() {
		assertThat(status("/path/1")).isEqualTo(200);
		assertThat(status("/path/2")).isEqualTo(429);
		assertThat(status("/path/1/more")).isEqualTo(200);
		assertThat(status("/path/2/more")).isEqualTo(429);
	}

	@Test
	void handlersOfOnePatternShareCount() {
		assertThat(status("/handler/1")).isEqualTo(200);
		assertThat(status("/handler/2")).isEqualTo(429);
		assertThat(status("/other-handler/1")).isEqualTo(200);
		assertThat(status("/other-handler/2")).isEqualTo(429);
	}

	@Test
	void everyMethodHasOwnCountButInventedOnesShareOne() {
		assertThat(this.application.send("POST", "/method").statusCode()).isEqualTo(200);
		assertThat(this.application.send("POST", "/method").statusCode()).isEqualTo(429);
		assertThat(this.application.send("GET", "/method").statusCode()).isEqualTo(200);
		assertThat(this.application.send("HEAD", "/method").statusCode()).isEqualTo(429);
		assertThat(this.application.send("FETCH1", "/method").statusCode()).isNotEqualTo(429);
		assertThat(this.application.send("FETCH2", "/method").statusCode()).isEqualTo(429);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/tenant", "/bean" })
	void ownIdentifierHasOwnCount(String path) {
		assertCounts(path, "X-Tenant", "a", "X-Tenant", "b");
	}

	/** The filter has order 0, so that it comes between those of the limiter. */
	@Test
	void principalOfOwnFilterIsSeenByTheSecondFilter() {
		assertCounts("/user", "X-User", "anna", "X-User", "berta");
	}

	@Test
	void addressCountsWhenOwnIdentifierIsMissing() {
		assertThat(status("/tenant")).isEqualTo(200);
		assertThat(status("/tenant")).isEqualTo(429);
		assertThat(status("/tenant", "X-Tenant", " ")).isEqualTo(429);
	}

	@Test
	void emptyHeaderAndCookieAreMissing() {
		for (int i = 0; i < 3; i++) {
			assertThat(status("/skip", "X-User", "")).isEqualTo(200);
			assertThat(status("/deny", "X-User", "")).isEqualTo(403);
			assertThat(status("/free", "X-Tenant", "")).isEqualTo(200);
		}
		assertThat(this.application.decisions()).isZero();
		assertThat(status("/cookie", "Cookie", "huge=")).isEqualTo(200);
		assertThat(status("/cookie", "Cookie", "huge=; a=b")).isEqualTo(429);
		assertThat(status("/cookie")).isEqualTo(429);
	}

	@Test
	void clientIsDeniedByOwnIdentifier() {
		assertThat(status("/free", "X-Tenant", "denied")).isEqualTo(403);
		assertThat(status("/free", "X-Tenant", "other")).isEqualTo(200);
	}

	@Test
	void policyDoesNotApplyWhenMissingIdentifierIsSkipped() {
		for (int i = 0; i < 3; i++) {
			HttpResponse<String> response = this.application.get("/skip");
			assertThat(response.statusCode()).isEqualTo(200);
			assertThat(response.headers().firstValue("RateLimit")).isEmpty();
		}
		assertThat(this.application.decisions()).isZero();
		assertCounts("/skip", "X-User", "a", "X-User", "b");
	}

	@ParameterizedTest
	@CsvSource({ "/deny", "/named" })
	void requestIsForbiddenWhenPolicyInsistsOnIdentifier(String path) {
		for (int i = 0; i < 3; i++) {
			HttpResponse<String> denied = this.application.get(path);
			assertThat(denied.statusCode()).isEqualTo(403);
			assertThat(denied.headers().firstValue("Retry-After")).isEmpty();
			assertThat(denied.headers().firstValue("RateLimit")).isEmpty();
			assertThat(denied.headers().allValues("Cache-Control")).containsExactly("no-store");
			assertThat(denied.headers().allValues("Content-Type")).containsExactly("application/problem+json");
			assertThat(JsonMapper.shared().readTree(denied.body()))
				.hasToString("{\"type\":\"about:blank\",\"title\":\"Forbidden\",\"status\":403}");
		}
		assertThat(this.application.decisions()).isZero();
		assertThat(status(path, "X-User", "a")).isEqualTo(200);
		assertThat(status(path, "X-User", "a")).isEqualTo(429);
	}

	private void assertCounts(String path, String header, String value, String otherHeader, String otherValue) {
		assertThat(status(path, header, value)).isEqualTo(200);
		assertThat(status(path, header, value)).isEqualTo(429);
		assertThat(status(path, otherHeader, otherValue)).isEqualTo(200);
		assertThat(status(path, otherHeader, otherValue)).isEqualTo(429);
	}

	private int status(String path, String... headers) {
		return this.application.get(path, headers).statusCode();
	}

	@OpenApplication
	@RestController
	static class Application {

		@GetMapping({ "/cookie", "/path/{id}", "/path/{id}/more", "/tenant", "/bean", "/skip", "/deny", "/free",
				"/user" })
		String get() {
			return "served";
		}

		@RequestMapping("/method")
		String method() {
			return "served";
		}

		@RateLimited(limits = "1/m", identifiers = "path")
		@GetMapping({ "/handler/{id}", "/other-handler/{id}" })
		String handler() {
			return "served";
		}

		@RateLimited("named")
		@GetMapping("/named")
		String named() {
			return "served";
		}

		@Bean
		FilterRegistrationBean<HeaderLogin> login() {
			return HeaderLogin.at(0);
		}

		@Bean
		IdentifierResolver plan() {
			return (request) -> request.getHeader("X-Tenant");
		}

	}

}
