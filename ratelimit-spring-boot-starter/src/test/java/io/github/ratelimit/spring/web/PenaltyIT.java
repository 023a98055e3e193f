package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.stream.Stream;

import io.github.ratelimit.Block;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.test.TestRedis;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Clients that are denied too often.
 */
@ExtendWith(OutputCaptureExtension.class)
class PenaltyIT {

	private static final Identifier HOST = Identifier.ip("127.0.0.1");

	private static final String REASON = "denied 20 times in 1m by policy 'login'";

	/** The recipe for logins. */
	@Test
	void whoGoesOnAfterTooManyWrongPasswordsIsBlocked(CapturedOutput output) {
		try (TestApplication application = start("ratelimit.denial-cache.enabled=false")) {
			assertThat(application.statuses(5, "/login", "X-Password", "right")).containsOnly(200);
			assertThat(application.statuses(5, "/login")).containsOnly(401);
			for (int denied = 0; denied < 19; denied++) {
				assertThat(application.get("/login").body()).contains("quota-exceeded");
			}
			assertThat(penalties(application, "login", "enforce")).isZero();
			HttpResponse<String> blocked = application.get("/login");
			assertThat(blocked.statusCode()).isEqualTo(429);
			assertThat(blocked.body()).contains("abnormal-usage-detected");
			assertThat(blocked.headers().firstValueAsLong("Retry-After")).hasValue(900);
			assertThat(application.get("/login", "X-Password", "right").body()).contains("abnormal-usage-detected");
			assertThat(application.get("/api").statusCode()).isEqualTo(200);
			assertThat(penalties(application, "login", "enforce")).isOne();
			assertThat(output).contains("An identifier (ip) is blocked until ").contains(REASON);
			assertThat(application.bean(BlockList.class).blocks()).singleElement()
				.extracting(Block::identifier, Block::reason)
				.containsExactly(HOST, REASON);
		}
	}

	@Test
	void denialsFromMemoryCount() {
		try (TestApplication application = start()) {
			application.statuses(5 + 20, "/login");
			await().untilAsserted(() -> assertThat(application.bean(BlockList.class).blocks()).singleElement()
				.extracting(Block::identifier, Block::reason)
				.containsExactly(HOST, REASON));
			await()
				.untilAsserted(() -> assertThat(application.get("/login").body()).contains("abnormal-usage-detected"));
			assertThat(penalties(application, "login", "enforce")).isOne();
		}
	}

	@Test
	void clientsThatAreNeverLimitedAreNeverPenalized() {
		try (TestApplication application = start("ratelimit.denial-cache.enabled=false",
				"ratelimit.allow=header:X-Api-Key:trusted")) {
			assertThat(application.statuses(50, "/login", "X-Api-Key", "trusted")).containsOnly(401);
			assertThat(application.bean(BlockList.class).blocks()).isEmpty();
			application.statuses(25, "/login");
			assertThat(application.bean(BlockList.class).blocks()).hasSize(1);
			assertThat(application.get("/login", "X-Api-Key", "trusted").statusCode()).isEqualTo(401);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "penalty.mode", "mode" })
	void nobodyIsBlockedInShadowMode(String mode, CapturedOutput output) {
		try (TestApplication application = start("ratelimit.denial-cache.enabled=false",
				"ratelimit.policies.login." + mode + "=shadow")) {
			for (int request = 0; request < 60; request++) {
				assertThat(application.get("/login").body()).doesNotContain("abnormal-usage-detected");
			}
			assertThat(application.bean(BlockList.class).blocks()).isEmpty();
			assertThat(penalties(application, "login", "shadow")).isOne();
			assertThat(output).contains("An identifier (ip) would be blocked, if this were not in shadow mode, until ")
				.containsOnlyOnce(REASON);
		}
	}

	@Test
	void plansHaveThePenaltyOfTheirPolicy() {
		try (TestApplication application = start("ratelimit.policies.login.plans.pro.limits=7/15m",
				"ratelimit.plan='pro'")) {
			IdentifiedPolicy login = application.bean(ConfiguredPolicies.class).find("login").orElseThrow();
			assertThat(login.policies()).hasSize(2)
				.extracting(Policy::penalty)
				.containsOnly(login.policy().penalty())
				.doesNotContainNull();
		}
	}

	private static double penalties(TestApplication application, String policy, String mode) {
		return application.bean(MeterRegistry.class)
			.get("ratelimit.penalties")
			.tag("policy", policy)
			.tag("mode", mode)
			.counter()
			.count();
	}

	private static TestApplication start(String... properties) {
		return TestApplication.startWithOwnLimiter(Application.class, Stream.concat(Stream.of("""
				ratelimit:
				  redis.url: %s
				  key-prefix: '%s'
				  policies.login: { paths: /login, limits: 5/15m, count-when: 'status in [401]',
				    penalty: { after: 20, within: 1m, block: 15m, up-to: 24h } }
				""".formatted(TestRedis.uri(), TestRedis.newKeyPrefix())), Stream.of(properties))
			.toArray(String[]::new));
	}

	@OpenApplication
	@RestController
	static class Application {

		@GetMapping("/login")
		ResponseEntity<String> login(@RequestHeader(name = "X-Password", defaultValue = "wrong") String password) {
			return ResponseEntity.status(password.equals("right") ? HttpStatus.OK : HttpStatus.UNAUTHORIZED).build();
		}

		@GetMapping("/api")
		String get() {
			return "served";
		}

	}

}
