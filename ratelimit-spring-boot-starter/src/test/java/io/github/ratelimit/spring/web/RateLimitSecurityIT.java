package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.security.Principal;
import java.util.List;
import java.util.stream.IntStream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.RateLimitExemption;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Policies beside Spring Security, with HTTP Basic.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		ratelimit.policies:
		  user: { paths: /user, limits: 2/m, identifiers: user }
		  address: { paths: /address, limits: 3/m }
		  both: { paths: /both, limits: 2/m, identifiers: ip+user }
		  outer: { paths: [/mixed, /annotated, /nobody], limits: 5/m }
		  everyone: { paths: /everyone, limits: 3/m, identifiers: [ip, user] }
		  inner: { paths: /mixed, limits: 1/m, identifiers: user }
		  exempt: { paths: /exempt, limits: 1/m, identifiers: user }
		  running: { paths: /running, concurrent: 1, identifiers: [ip, user] }
		  known: { paths: /nobody, limits: 1/m, identifiers: user, missing-identifier: deny }
		""")
class RateLimitSecurityIT {

	@Parameter
	TestApplication application;

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
		assertThat(this.application.decisions()).isZero();
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
	void denialBeforeTheLoginHasTheHeadersOfSpringSecurity() {
		List<HttpResponse<String>> responses = IntStream.range(0, 4)
			.mapToObj((i) -> get("/address", "anna", "secret"))
			.toList();
		assertThat(responses.get(3).statusCode()).isEqualTo(429);
		for (HttpResponse<String> response : responses) {
			assertThat(response.headers().allValues("X-Content-Type-Options")).containsExactly("nosniff");
			assertThat(response.headers().allValues("X-Frame-Options")).containsExactly("DENY");
			assertThat(response.headers().allValues("Cache-Control")).hasSize(1);
		}
		assertThat(responses.get(3).headers().allValues("Cache-Control")).containsExactly("no-store");
	}

	/**
	 * Or Spring Security would tell right passwords from wrong ones, as often as asked.
	 */
	@Test
	void preflightThatSpringSecurityWouldLogInIsCounted() {
		List<Integer> statuses = IntStream.range(0, 5)
			.mapToObj((i) -> preflight("/address", "anna", "wrong" + i).statusCode())
			.toList();
		assertThat(statuses).containsExactly(401, 401, 401, 429, 429);
		assertThat(preflight("/address", "anna", "secret").statusCode()).isEqualTo(429);
	}

	private HttpResponse<String> preflight(String path, String user, String password) {
		return this.application.send("OPTIONS", path, "Authorization", TestUsers.basic(user + ":" + password), "Origin",
				"https://page.example", "Access-Control-Request-Method", "GET");
	}

	@Test
	void combinationWithUserIsCountedForEveryUser() {
		get("/both", "anna", "secret");
		get("/both", "anna", "secret");
		assertThat(get("/both", "anna", "secret").statusCode()).isEqualTo(429);
		assertThat(get("/both", "berta", "secret").statusCode()).isEqualTo(200);
	}

	/** What was counted before the login stays counted. */
	@ParameterizedTest
	@ValueSource(strings = { "/mixed", "/annotated" })
	void requestThatIsDeniedAfterLoginCountsBefore(String path) {
		assertThat(get(path, "anna", "secret").statusCode()).isEqualTo(200);
		HttpResponse<String> denied = get(path, "anna", "secret");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().firstValue("RateLimit").orElseThrow()).contains("\"outer\";r=3");
		this.application.assertUsed("outer", 2);
	}

	@Test
	void refusedLoginIsCountedByTheAddressOfAPolicyForUsersAsWell() {
		for (int i = 1; i <= 3; i++) {
			assertThat(get("/everyone", "anna", "wrong").statusCode()).isEqualTo(401);
		}
		HttpResponse<String> denied = get("/everyone", "anna", "secret");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().firstValue("RateLimit").orElseThrow()).startsWith("\"everyone\";r=0;");
	}

	@Test
	void headersTellOfTheIdentifierThatIsClosestToBeingDenied() {
		get("/everyone", "anna", "secret");
		HttpResponse<String> response = get("/everyone", "berta", "secret");
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(response.headers().firstValue("RateLimit").orElseThrow()).startsWith("\"everyone\";r=1;");
	}

	@Test
	void requestRunsByItsAddressBeforeTheLoginAndByItsUserAfterIt() {
		assertThat(get("/running", "anna", "secret").body()).isEqualTo("ip 0, user 0");
		assertRunning(0, 0);
		assertThat(get("/running", "anna", "wrong").statusCode()).isEqualTo(401);
		assertRunning(0, 0);
		Policy policy = this.application.bean(ConfiguredPolicies.class).find("running").orElseThrow().policy();
		this.application.bean(RateLimiter.class)
			.tryAcquire(RateLimitRequest.of(policy, Identifier.user("anna")).withCall(1));
		HttpResponse<String> denied = get("/running", "anna", "secret");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("1");
		assertRunning(0, 1);
		assertThat(get("/running", "berta", "secret").body()).isEqualTo("ip 0, user 0");
	}

	private void assertRunning(long address, long user) {
		this.application.assertUsed("running", address);
		this.application.assertUsed("running", Identifier.user("anna"), user);
	}

	@Test
	void exemptionIsAskedAgainAfterTheLogin() {
		assertThat(get("/exempt", "anna", "secret").statusCode()).isEqualTo(200);
		assertThat(get("/exempt", "anna", "secret").statusCode()).isEqualTo(429);
		assertThat(get("/exempt", "berta", "secret").statusCode()).isEqualTo(200);
		assertThat(get("/exempt", "berta", "secret").statusCode()).isEqualTo(200);
	}

	/** Or those who try what they may not would never be limited. */
	@Test
	void requestThatIsDeniedForItsCallerAfterLoginCountsBefore() {
		assertThat(this.application.get("/nobody").statusCode()).isEqualTo(403);
		this.application.assertUsed("outer", 1);
	}

	private HttpResponse<String> get(String path, String user, String password) {
		return this.application.get(path, "Authorization", TestUsers.basic(user + ":" + password));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(TestUsers.class)
	@RestController
	static class Application {

		private final RateLimiter limiter;

		private final ConfiguredPolicies policies;

		Application(RateLimiter limiter, ConfiguredPolicies policies) {
			this.limiter = limiter;
			this.policies = policies;
		}

		@GetMapping({ "/user", "/address", "/both", "/mixed", "/nobody", "/everyone", "/exempt" })
		String get() {
			return "served";
		}

		/** What is left for others. */
		@GetMapping("/running")
		String running(Principal user) {
			Policy policy = this.policies.find("running").orElseThrow().policy();
			List<Long> left = this.limiter
				.peek(RateLimitRequest.of(policy, Identifier.ip("127.0.0.1"), Identifier.user(user.getName())))
				.statuses()
				.stream()
				.map(LimitStatus::remaining)
				.toList();
			return "ip %d, user %d".formatted(left.get(0), left.get(1));
		}

		@GetMapping("/annotated")
		@RateLimited(limits = "1/m", identifiers = "user", name = "annotated")
		String annotated() {
			return "served";
		}

		/** On this path nobody is limited but anna, who is known only after the login. */
		@Bean
		static RateLimitExemption exemption() {
			return (request) -> request.getRequestURI().equals("/exempt")
					&& (request.getUserPrincipal() == null || !request.getUserPrincipal().getName().equals("anna"));
		}

		@Bean
		SecurityFilterChain security(HttpSecurity http) {
			return http
				.authorizeHttpRequests(
						(requests) -> requests.requestMatchers("/nobody").permitAll().anyRequest().authenticated())
				.httpBasic(Customizer.withDefaults())
				.build();
		}

	}

}
