package io.github.ratelimit.spring.web;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.PlanResolver;
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
 * Policies that count denied requests, before the login and after it: whoever goes on
 * trying stays denied.
 */
@EachContainer
class CountDeniedIT {

	private static final String RIGHT = "anna:secret";

	private static final String WRONG = "anna:wrong";

	private static TestApplication application;

	@Parameter
	Container container;

	@BeforeParameterizedClassInvocation
	static void start(Container container) {
		application = TestApplication.start(container, Application.class,
				Stream
					.concat(Stream.of("ratelimit.ip.trusted-proxies=127.0.0.1",
							"ratelimit.policies.failed.count-when=status in [401]",
							"ratelimit.policies.tariff.plans.pro.limits=3/m",
							"ratelimit.policies.tariff.identifiers=ip", "ratelimit.policies.narrow.paths=/beside",
							"ratelimit.policies.narrow.limits=1/m", "ratelimit.policies.plain.count-denied=false"),
							Stream.of("plain", "hammered", "failed", "tariff", "beside").flatMap(CountDeniedIT::policy))
					.distinct()
					.toArray(String[]::new));
	}

	private static Stream<String> policy(String name) {
		String prefix = "ratelimit.policies." + name + ".";
		return Stream
			.of("paths=/" + name, "limits=" + (name.equals("beside") ? "9/m" : "2/m"), "algorithm=sliding-log",
					name.equals("tariff") ? "mode=enforce" : "identifiers=ip,user",
					name.equals("plain") ? "mode=enforce" : "count-denied=true")
			.map(prefix::concat);
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
	void wrongLoginIsTriedAgainAfterTheWindowOtherwise() {
		assertThat(statusesOfOneWhoHammers("/plain", WRONG)).containsExactly(401, 401, 429, 429, 429, 401);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/hammered", "/failed" })
	void deniedLoginsCountByTheAddress(String path) {
		assertThat(statusesOfOneWhoHammers(path, WRONG)).containsExactly(401, 401, 429, 429, 429, 429);
		assertThat(get(path, RIGHT, 1)).isEqualTo(429);
		assertThat(get(path, RIGHT, 2)).isEqualTo(200);
		application.advance(Duration.ofMinutes(1));
		assertThat(get(path, RIGHT, 1)).isEqualTo(200);
	}

	@Test
	void onlyWhatWasAllowedIsGivenBack() {
		get("/failed", RIGHT, 1);
		application.assertUsed("failed", address(1), 0);
		application.assertUsed("failed", Identifier.user("anna"), 0);
		get("/failed", WRONG, 1);
		get("/failed", WRONG, 1);
		application.advance(Duration.ofSeconds(40));
		assertThat(get("/failed", RIGHT, 1)).isEqualTo(429);
		application.advance(Duration.ofSeconds(30));
		application.assertUsed("failed", address(1), 1);
		application.assertUsed("failed", Identifier.user("anna"), 0);
	}

	@Test
	void deniedRequestsOfAUserCountForTheUserAndTheirAddressesOnce() {
		assertThat(get("/hammered", RIGHT, 1)).isEqualTo(200);
		assertThat(get("/hammered", RIGHT, 2)).isEqualTo(200);
		application.advance(Duration.ofSeconds(40));
		assertThat(get("/hammered", RIGHT, 3)).isEqualTo(429);
		assertThat(get("/hammered", RIGHT, 4)).isEqualTo(429);
		application.assertUsed("hammered", address(3), 1);
		application.advance(Duration.ofSeconds(30));
		assertThat(get("/hammered", RIGHT, 5)).isEqualTo(429);
		assertThat(get("/hammered", "berta:secret", 3)).isEqualTo(200);
	}

	/** What counts there is given back as soon as somebody comes through. */
	@Test
	void deniedLoginsDoNotCountWhereThePolicyHasPlans() {
		assertThat(statusesOfOneWhoHammers("/tariff", WRONG)).containsExactly(401, 401, 429, 429, 429, 401);
	}

	@Test
	void deniedRequestsCountByThePlanOfWhoComesThrough() {
		assertThat(get("/tariff", RIGHT, 1)).isEqualTo(200);
		assertThat(statusesOfOneWhoHammers("/tariff", RIGHT)).containsExactly(200, 200, 429, 429, 429, 429);
	}

	@Test
	void requestThatAnotherPolicyDeniesCounts() {
		List<Integer> statuses = Stream.of(WRONG, WRONG, WRONG).map((login) -> get("/beside", login, 1)).toList();
		assertThat(statuses).containsExactly(401, 429, 429);
		application.assertUsed("beside", address(1), 3);
		application.assertUsed("narrow", address(1), 1);
	}

	/** Two tries at once, three later, and one when the first two are forgotten. */
	private static List<Integer> statusesOfOneWhoHammers(String path, String login) {
		return Stream.of(0, 0, 40, 0, 0, 30).map((seconds) -> {
			application.advance(Duration.ofSeconds(seconds));
			return get(path, login, 1);
		}).toList();
	}

	private static int get(String path, String login, int address) {
		return application
			.get(path, "X-Forwarded-For", address(address).value(), "Authorization",
					"Basic " + Base64.getEncoder().encodeToString(login.getBytes(StandardCharsets.UTF_8)))
			.statusCode();
	}

	private static Identifier address(int last) {
		return Identifier.ip("203.0.113." + last);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(TestUsers.class)
	@RestController
	static class Application {

		@GetMapping({ "/plain", "/hammered", "/failed", "/tariff", "/beside" })
		String get() {
			return "served";
		}

		@Bean
		static PlanResolver plans() {
			return (user, request) -> "pro";
		}

		@Bean
		SecurityFilterChain security(HttpSecurity http) {
			return http.authorizeHttpRequests((requests) -> requests.anyRequest().authenticated())
				.httpBasic(Customizer.withDefaults())
				.build();
		}

	}

}
