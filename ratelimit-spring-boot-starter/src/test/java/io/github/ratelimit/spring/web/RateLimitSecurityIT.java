package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.stream.IntStream;

import io.github.ratelimit.spring.RateLimitExemption;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
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
@EachContainer
class RateLimitSecurityIT {

	@Parameter
	Container container;

	private static TestApplication application;

	@BeforeParameterizedClassInvocation
	static void start(Container container) {
		application = TestApplication.start(container, Application.class, "ratelimit.policies.user.paths=/user",
				"ratelimit.policies.user.limits=2/m", "ratelimit.policies.user.identifiers=user",
				"ratelimit.policies.address.paths=/address", "ratelimit.policies.address.limits=3/m",
				"ratelimit.policies.both.paths=/both", "ratelimit.policies.both.limits=2/m",
				"ratelimit.policies.both.identifiers=ip+user",
				"ratelimit.policies.outer.paths=/mixed,/annotated,/nobody", "ratelimit.policies.outer.limits=5/m",
				"ratelimit.policies.everyone.paths=/everyone", "ratelimit.policies.everyone.limits=3/m",
				"ratelimit.policies.everyone.identifiers=ip,user", "ratelimit.policies.login.paths=/login",
				"ratelimit.policies.login.limits=5/15m", "ratelimit.policies.login.identifiers=ip,user",
				"ratelimit.policies.login.count-when=status in [401]", "ratelimit.policies.inner.paths=/mixed",
				"ratelimit.policies.inner.limits=1/m", "ratelimit.policies.inner.identifiers=user",
				"ratelimit.policies.known.paths=/nobody", "ratelimit.policies.known.limits=1/m",
				"ratelimit.policies.known.identifiers=user", "ratelimit.policies.known.missing-identifier=deny");
	}

	@AfterParameterizedClassInvocation
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

	private static HttpResponse<String> preflight(String path, String user, String password) {
		return application.send("OPTIONS", path, "Authorization", basic(user, password), "Origin",
				"https://page.example", "Access-Control-Request-Method", "GET");
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
		try (TestApplication other = TestApplication.start(this.container, Application.class,
				"spring.security.filter.order=0", "ratelimit.policies.user.paths=/user",
				"ratelimit.policies.user.limits=1/m", "ratelimit.policies.user.identifiers=user")) {
			assertThat(get(other, "/user", "anna", "secret").statusCode()).isEqualTo(200);
			assertThat(get(other, "/user", "berta", "secret").statusCode()).isEqualTo(200);
			assertThat(get(other, "/user", "anna", "secret").statusCode()).isEqualTo(429);
			assertThat(get(other, "/user", "berta", "secret").statusCode()).isEqualTo(429);
		}
	}

	/** What was counted before the login stays counted. */
	@ParameterizedTest
	@ValueSource(strings = { "/mixed", "/annotated" })
	void requestThatIsDeniedAfterLoginCountsBefore(String path) {
		assertThat(get(path, "anna", "secret").statusCode()).isEqualTo(200);
		HttpResponse<String> denied = get(path, "anna", "secret");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().firstValue("RateLimit").orElseThrow()).contains("\"outer\";r=3");
		application.assertUsed("outer", 2);
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
	void onlyFailedLoginsCountWhereThePolicySaysSo() {
		for (int failed = 0; failed < 8; failed++) {
			application.assertUsed("login", Math.min(failed, 5));
			assertThat(get("/login", "anna", "secret").statusCode()).isEqualTo((failed < 5) ? 200 : 429);
			application.assertUsed("login", Math.min(failed, 5));
			assertThat(get("/login", "anna", "wrong").statusCode()).isEqualTo((failed < 5) ? 401 : 429);
		}
	}

	@Test
	void exemptionIsAskedAgainAfterTheLogin() {
		try (TestApplication other = TestApplication.start(this.container, ExemptingApplication.class,
				"ratelimit.policies.user.paths=/user", "ratelimit.policies.user.limits=1/m",
				"ratelimit.policies.user.identifiers=user")) {
			assertThat(get(other, "/user", "anna", "secret").statusCode()).isEqualTo(200);
			assertThat(get(other, "/user", "anna", "secret").statusCode()).isEqualTo(429);
			assertThat(get(other, "/user", "berta", "secret").statusCode()).isEqualTo(200);
			assertThat(get(other, "/user", "berta", "secret").statusCode()).isEqualTo(200);
		}
	}

	/** Or those who try what they may not would never be limited. */
	@Test
	void requestThatIsDeniedForItsCallerAfterLoginCountsBefore() {
		assertThat(application.get("/nobody").statusCode()).isEqualTo(403);
		application.assertUsed("outer", 1);
	}

	private static HttpResponse<String> get(String path, String user, String password) {
		return get(application, path, user, password);
	}

	private static HttpResponse<String> get(TestApplication application, String path, String user, String password) {
		return application.get(path, "Authorization", basic(user, password));
	}

	private static String basic(String user, String password) {
		return "Basic " + Base64.getEncoder().encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
	}

	/** Nobody is limited but anna, who is known only after the login. */
	static class ExemptingApplication extends Application {

		@Bean
		static RateLimitExemption exemption() {
			return (request) -> request.getUserPrincipal() == null
					|| !request.getUserPrincipal().getName().equals("anna");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(TestUsers.class)
	@RestController
	static class Application {

		@GetMapping({ "/user", "/address", "/both", "/mixed", "/nobody", "/everyone", "/login" })
		String get() {
			return "served";
		}

		@GetMapping("/annotated")
		@RateLimited(limits = "1/m", identifiers = "user", name = "annotated")
		String annotated() {
			return "served";
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
