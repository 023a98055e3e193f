package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.security.Principal;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.RateLimitExemption;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
@StartApplication("""
		ratelimit.policies:
		  user: { paths: /user, limits: 2/m, identifiers: user }
		  address: { paths: /address, limits: 3/m }
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

	/** By the user alone, the address alone, and both. */
	@ParameterizedTest
	@CsvSource({ "/user, 200, 1", "/address, 429, 0", "/everyone, 429, 0" })
	void refusedLoginsCountByAddress(String path, int status, int left) {
		for (int i = 0; i < 3; i++) {
			assertThat(this.application.getAs("anna:wrong", path).statusCode()).isEqualTo(401);
		}
		HttpResponse<String> response = this.application.getAs("anna:secret", path);
		assertThat(response.statusCode()).isEqualTo(status);
		assertThat(response.headers().firstValue("RateLimit").orElseThrow())
			.startsWith("\"%s\";r=%d;".formatted(path.substring(1), left));
	}

	@Test
	void denialBeforeTheLoginHasTheHeadersOfSpringSecurity() {
		List<HttpResponse<String>> responses = Stream.generate(() -> this.application.getAs("anna:secret", "/address"))
			.limit(4)
			.toList();
		assertThat(responses.get(3).statusCode()).isEqualTo(429);
		for (HttpResponse<String> response : responses) {
			assertThat(response.headers().allValues("X-Content-Type-Options")).containsExactly("nosniff");
			assertThat(response.headers().allValues("X-Frame-Options")).containsExactly("DENY");
			assertThat(response.headers().allValues("Cache-Control")).hasSize(1);
		}
		assertThat(responses.get(3).headers().allValues("Cache-Control")).containsExactly("no-store");
	}

	/** What was counted before the login stays counted. */
	@ParameterizedTest
	@ValueSource(strings = { "/mixed", "/annotated" })
	void requestThatIsDeniedAfterLoginCountsBefore(String path) {
		assertThat(this.application.getAs("anna:secret", path).statusCode()).isEqualTo(200);
		HttpResponse<String> denied = this.application.getAs("anna:secret", path);
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().firstValue("RateLimit").orElseThrow()).contains("\"outer\";r=3");
		this.application.assertUsed("outer", 2);
	}

	@Test
	void requestRunsByAddressBeforeLoginAndUserAfterIt() {
		assertThat(this.application.getAs("anna:secret", "/running").body()).isEqualTo("ip 0, user 0");
		assertRunning(0, 0);
		assertThat(this.application.getAs("anna:wrong", "/running").statusCode()).isEqualTo(401);
		assertRunning(0, 0);
		Policy policy = this.application.bean(ConfiguredPolicies.class).find("running").orElseThrow().policy();
		this.application.bean(RateLimiter.class)
			.tryAcquire(RateLimitRequest.of(policy, Identifier.user("anna")).withCall(1));
		HttpResponse<String> denied = this.application.getAs("anna:secret", "/running");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("1");
		assertRunning(0, 1);
		assertThat(this.application.getAs("berta:secret", "/running").body()).isEqualTo("ip 0, user 0");
	}

	private void assertRunning(long address, long user) {
		this.application.assertUsed("running", address);
		this.application.assertUsed("running", Identifier.user("anna"), user);
	}

	@Test
	void exemptionIsAskedAgainAfterTheLogin() {
		assertThat(this.application.getAs("anna:secret", "/exempt").statusCode()).isEqualTo(200);
		assertThat(this.application.getAs("anna:secret", "/exempt").statusCode()).isEqualTo(429);
		assertThat(this.application.getAs("berta:secret", "/exempt").statusCode()).isEqualTo(200);
		assertThat(this.application.getAs("berta:secret", "/exempt").statusCode()).isEqualTo(200);
	}

	/** Or those who try what they may not would never be limited. */
	@Test
	void requestDeniedForItsCallerAfterLoginCountsBefore() {
		assertThat(this.application.get("/nobody").statusCode()).isEqualTo(403);
		this.application.assertUsed("outer", 1);
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

		@GetMapping({ "/user", "/address", "/mixed", "/nobody", "/everyone", "/exempt" })
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
