package io.github.ratelimit.spring.web;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Policies that count denied requests, before the login and after it: whoever goes on
 * trying stays denied.
 */
@StartApplication("""
		ratelimit:
		  ip.trusted-proxies: 127.0.0.1
		  defaults.algorithm: sliding-log
		  policies:
		    hammered: { paths: /hammered, limits: 2/m, identifiers: [ip, user], count-denied: true }
		    failed: { paths: /failed, limits: 2/m, identifiers: [ip, user], count-denied: true,
		      count-when: 'status in [401]' }
		# In all other tests it is where Spring Boot puts it.
		spring.security.filter.order: 0
		""")
class CountDeniedIT {

	private static final String RIGHT = "anna:secret";

	private static final String WRONG = "anna:wrong";

	@Parameter
	TestApplication application;

	@ParameterizedTest
	@ValueSource(strings = { "/hammered", "/failed" })
	void deniedLoginsCountByTheAddress(String path) {
		assertThat(statusesOfOneWhoHammers(path, WRONG)).containsExactly(401, 401, 429, 429, 429, 429);
		assertThat(get(path, RIGHT, 1)).isEqualTo(429);
		assertThat(get(path, RIGHT, 2)).isEqualTo(200);
		this.application.advance(Duration.ofMinutes(1));
		assertThat(get(path, RIGHT, 1)).isEqualTo(200);
	}

	@Test
	void onlyWhatWasAllowedIsGivenBack() {
		get("/failed", RIGHT, 1);
		this.application.assertUsed("failed", address(1), 0);
		this.application.assertUsed("failed", Identifier.user("anna"), 0);
		get("/failed", WRONG, 1);
		get("/failed", WRONG, 1);
		this.application.advance(Duration.ofSeconds(40));
		assertThat(get("/failed", RIGHT, 1)).isEqualTo(429);
		this.application.advance(Duration.ofSeconds(30));
		this.application.assertUsed("failed", address(1), 1);
		this.application.assertUsed("failed", Identifier.user("anna"), 0);
	}

	@Test
	void deniedRequestsCountForUserAndAddressesOnce() {
		assertThat(get("/hammered", RIGHT, 1)).isEqualTo(200);
		assertThat(get("/hammered", RIGHT, 2)).isEqualTo(200);
		this.application.advance(Duration.ofSeconds(40));
		assertThat(get("/hammered", RIGHT, 3)).isEqualTo(429);
		assertThat(get("/hammered", RIGHT, 4)).isEqualTo(429);
		this.application.assertUsed("hammered", address(3), 1);
		this.application.advance(Duration.ofSeconds(30));
		assertThat(get("/hammered", RIGHT, 5)).isEqualTo(429);
		assertThat(get("/hammered", "berta:secret", 3)).isEqualTo(200);
	}

	/** Two tries at once, three later, and one when the first two are forgotten. */
	private List<Integer> statusesOfOneWhoHammers(String path, String login) {
		return Stream.of(0, 0, 40, 0, 0, 30).map((seconds) -> {
			this.application.advance(Duration.ofSeconds(seconds));
			return get(path, login, 1);
		}).toList();
	}

	private int get(String path, String login, int address) {
		return this.application.getAs(login, path, "X-Forwarded-For", address(address).value()).statusCode();
	}

	private static Identifier address(int last) {
		return Identifier.ip("203.0.113." + last);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(TestUsers.class)
	@RestController
	static class Application {

		@GetMapping({ "/hammered", "/failed" })
		String get() {
			return "served";
		}

	}

}
