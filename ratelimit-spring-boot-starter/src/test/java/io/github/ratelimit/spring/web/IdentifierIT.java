package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who is counted together, who is never limited or always denied, and what becomes of
 * requests without an identifier; also where handlers ask by the names of policies.
 */
@StartApplication("""
		ratelimit:
		  ip.trusted-proxies: 127.0.0.1
		  identifiers.tenant: "#request.getHeader('X-Tenant')"
		  allow: [header:X-Api-Key:k1, user:anna, ip:198.51.100.1]
		  deny: [plan:denied, user:clara, ip:203.0.113.0/24]
		  policies:
		    cookie: { paths: /cookie, limits: 1/m, identifiers: cookie:huge }
		    path: { paths: ['/path/{id}', '/path/{id}/more'], limits: 1/m, identifiers: path }
		    tenant: { paths: /tenant, limits: 1/m, identifiers: tenant }
		    bean: { paths: /bean, limits: 1/m, identifiers: ip+plan }
		    skip: { paths: /skip, limits: 1/m, identifiers: header:X-User, missing-identifier: skip }
		    deny: { paths: /deny, limits: 1/m, identifiers: [ip, header:X-User], missing-identifier: deny }
		    user: { paths: /user, limits: 1/m, identifiers: user }
		    nothing: { paths: /costless, limits: 1/m, cost: 0, identifiers: header:X-User, missing-identifier: deny }
		    address: { paths: /address, limits: 1/m }
		    method: { limits: 1/m, identifiers: header:X-User, missing-identifier: deny }
		    mail: { limits: 2/m, identifiers: user, when: "#request.getHeader('X-Free') == null",
		      count-when: 'status in [401]', plans.gold.limits: 3/m }
		    login: { limits: 2/m, identifiers: user, missing-identifier: deny }
		""")
class IdentifierIT extends WithApplication {

	@ParameterizedTest
	@CsvSource({ "/cookie, Cookie, huge=a, other=x; huge=b", "/tenant, X-Tenant, a, b", "/bean, X-Tenant, a, b",
			"/user, X-User, dora, berta", "/skip, X-User, a, b" })
	void everyValueHasOwnCount(String path, String header, String value, String other) {
		assertThat(this.application.statuses(2, path, header, value)).containsExactly(200, 429);
		assertThat(this.application.statuses(2, path, header, other)).containsExactly(200, 429);
	}

	@Test
	void argumentsIdentifyTogetherWithRequest() {
		assertThat(this.application.statuses(2, "/order?customer=anna")).containsExactly(200, 429);
		assertThat(status("/order?customer=bert")).isEqualTo(200);
		assertThat(this.application.get("/order").headers().firstValue("RateLimit"))
			.hasValue("\"Application.order\";r=0;t=60");
		assertThat(status("/order?customer=")).isEqualTo(429);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/path/%d", "/path/%d/more", "/handler/%d", "/other-handler/%d" })
	void pathsOfOnePatternShareCount(String path) {
		assertThat(status(path.formatted(1))).isEqualTo(200);
		assertThat(status(path.formatted(2))).isEqualTo(429);
	}

	@ParameterizedTest
	@CsvSource({ "/address, X-Api-Key, k1", "/user, X-Api-Key, k1", "/annotated, X-Api-Key, k1",
			"/address, X-Forwarded-For, 198.51.100.1", "/user, X-User, anna", "/annotated, X-User, anna" })
	void allowedClientIsNeverCounted(String path, String header, String value) {
		for (int i = 0; i < 3; i++) {
			HttpResponse<String> response = get(200, path, header, value);
			assertThat(response.headers().firstValue("RateLimit")).isEmpty();
		}
		assertThat(this.application.decisions()).isZero();
		assertThat(this.application.statuses(2, path, "X-User", "berta")).containsExactly(200, 429);
	}

	/** Users are unknown before the login, so what was counted before is refunded. */
	@Test
	void allowedUserUsesNothingOfWhatComesBeforeLogin() {
		assertThat(this.application.statuses(3, "/address", "X-User", "anna")).containsOnly(200);
		assertThat(this.application.statuses(2, "/address", "X-User", "berta")).containsExactly(200, 429);
		assertThat(status("/address", "X-User", "anna")).isEqualTo(429);
	}

	@ParameterizedTest
	@CsvSource({ "X-Forwarded-For, 203.0.113.7", "X-User, clara", "X-Tenant, denied" })
	void deniedClientIsForbiddenEverywhere(String header, String value) {
		for (String path : List.of("/address", "/user", "/annotated", "/free", "/nothing")) {
			assertForbidden(this.application.get(path, header, value));
		}
		assertThat(status("/free", header, "198.51.100.7")).isEqualTo(200);
		assertForbidden(this.application.send("OPTIONS", "/free", "Origin", "https://example.com",
				"Access-Control-Request-Method", "GET", header, value));
	}

	private static void assertForbidden(HttpResponse<String> denied) {
		assertThat(denied.statusCode()).isEqualTo(403);
		assertThat(denied.headers().map()).doesNotContainKey("retry-after");
		assertThat(denied.headers().allValues("Cache-Control")).containsExactly("no-store");
		assertThat(denied.headers().allValues("Content-Type")).containsExactly("application/problem+json");
		assertThat(denied.body()).isEqualTo("{\"type\":\"about:blank\",\"title\":\"Forbidden\",\"status\":403}");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/deny", "/method" })
	void requestIsForbiddenWhenPolicyInsistsOnIdentifier(String path) {
		assertForbidden(this.application.get(path));
		assertThat(this.application.statuses(2, "/costless")).containsOnly(200);
		assertThat(this.application.decisions()).isZero();
		assertThat(this.application.statuses(2, path, "X-User", "a")).containsExactly(200, 429);
	}

	/** All of them answer 200, which count-when would refund. */
	@Test
	void callerOfTheRequestIsCountedWhereHandlerAsks() {
		assertThat(get(200, "/mail", "X-User", "dan").headers().map()).doesNotContainKeys("ratelimit",
				"x-rate-limit-limit");
		this.application.assertUsed("mail", Identifier.user("dan"), 1);
		assertThat(mails(3, "X-User", "dora")).containsExactly("true", "true", "false");
		assertThat(mails(1, "X-User", "berta")).containsExactly("true");
		assertThat(mails(3)).as("by address").containsExactly("true", "true", "false");
		assertThat(mails(3, "X-User", "dora", "X-Free", "yes")).containsOnly("true");
		assertThat(mails(3, "X-User", "dora", "X-Api-Key", "k1")).containsOnly("true");
		assertThat(mails(4, "X-User", "gold")).containsExactly("true", "true", "true", "false");
		assertThat(status("/mail?policy=login")).isEqualTo(403);
	}

	private List<String> mails(int times, String... headers) {
		return Stream.generate(() -> this.application.get("/mail", headers).body()).limit(times).toList();
	}

	private int status(String path, String... headers) {
		return this.application.get(path, headers).statusCode();
	}

	static class Application extends TestApplication.WithMethod {

		private final ObjectProvider<PolicyLimiter> limiter;

		Application(ObjectProvider<PolicyLimiter> limiter) {
			this.limiter = limiter;
		}

		@RateLimited(limits = "1/m", identifiers = "path")
		@GetMapping({ "/handler/{id}", "/other-handler/{id}" })
		String handler() {
			return "served";
		}

		@RateLimited(limits = "1/m", identifiers = "user")
		@GetMapping("/annotated")
		String annotated() {
			return "served";
		}

		@RateLimited(limits = "1/m", identifiers = "ip+#customer")
		@GetMapping("/order")
		String order(@RequestParam(required = false) String customer) {
			return "served";
		}

		@GetMapping("/mail")
		boolean mail(@RequestParam(defaultValue = "mail") String policy) {
			return this.limiter.getObject().tryAcquire(policy).allowed();
		}

		@Bean
		static PlanResolver plans() {
			return (user, request) -> user.getName();
		}

		@Bean
		IdentifierResolver plan() {
			return (request) -> request.getHeader("X-Tenant");
		}

	}

}
