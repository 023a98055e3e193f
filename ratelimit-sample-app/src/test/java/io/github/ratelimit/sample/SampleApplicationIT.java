package io.github.ratelimit.sample;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Map;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.ManualTime;
import io.github.ratelimit.test.TestRedis;
import io.github.ratelimit.waiting.WaitingRateLimiter.Time;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The sample application as it is shipped, on a clock that stands still.
 */
@SpringBootTest
@AutoConfigureMockMvc
class SampleApplicationIT {

	private static final String ONE = "203.0.113.1";

	private static final String OTHER = "203.0.113.2";

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private ManualClock clock;

	@Autowired
	private MeterRegistry meters;

	@DynamicPropertySource
	static void useTestRedis(DynamicPropertyRegistry registry) {
		registry.add("ratelimit.redis.url", TestRedis::uri);
		registry.add("ratelimit.redis.timeout", () -> "10s");
	}

	@BeforeEach
	void forget() {
		this.clock.advance(Duration.ofDays(1));
	}

	@Test
	void searchCountsDownAndIsDeniedAndIsAllowedAgain() {
		for (int remaining = 9; remaining >= 0; remaining--) {
			assertThat(search()).hasStatus(200)
				.hasHeader("X-Rate-Limit-Limit", "10")
				.hasHeader("X-Rate-Limit-Remaining", String.valueOf(remaining))
				.hasBodyTextEqualTo("Results for 'redis'\n");
		}
		assertThat(search()).hasStatus(429)
			.hasContentType("application/problem+json")
			.hasHeader("Retry-After", "1")
			.hasHeader("RateLimit-Policy", "\"search/s\";q=10;w=1, \"search/m\";q=120;w=60, \"search/h\";q=240;w=3600")
			.bodyText()
			.contains("[\"search/s\"]");
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(search()).hasStatus(200);
	}

	/** Each has a status, and what is left, or after how many seconds to try again. */
	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					          | GET /user 200 9; POST /user 200 7; GET /user 200 6; POST /user 200 4
					          | POST /user 200 8; POST /user 200 6; POST /user 200 4; POST /user 200 2; POST /user 200 0; GET /user 429 60
					          | GET /quote 200 2; GET /quote 200 1; GET /quote 200 0; GET /quote 429 10
					          | GET /more/plans 200 0; GET /more/plans 429 60
					free-anna | GET /more/plans 200 2; GET /more/plans 200 1; GET /more/plans 200 0; GET /more/plans 429 60
					pro-paul  | GET /more/plans 200 9; GET /more/plans 200 8
					          | GET /demo/sliding-log?cost=3 200 2; GET /demo/sliding-log?cost=3 429 10
					          | GET /demo/sliding-log?cost=-3 200 4; GET /demo/sliding-log?cost=much 200 3
					""")
	void requestsAreAnsweredAsConfigured(String user, String requests) {
		for (String request : requests.split("; ")) {
			String[] words = request.split(" ");
			String header = words[2].equals("200") ? "X-Rate-Limit-Remaining" : "Retry-After";
			assertThat(send(HttpMethod.valueOf(words[0]), words[1], ONE, user)).as(request)
				.hasStatus(Integer.parseInt(words[2]))
				.hasHeader(header, words[3]);
		}
		assertThat(send(HttpMethod.GET, "/user", OTHER, user)).hasHeader("X-Rate-Limit-Remaining", "9");
	}

	@Test
	void monthEndsAtMidnightOfItsZone() {
		ZonedDateTime now = this.clock.instant().atZone(ZoneId.of("Europe/Berlin"));
		ZonedDateTime end = now.truncatedTo(ChronoUnit.DAYS).withDayOfMonth(1).plusMonths(1);
		for (int i = 0; i < 5; i++) {
			assertThat(send(HttpMethod.GET, "/more/month", ONE, null)).hasStatus(200);
		}
		assertThat(send(HttpMethod.GET, "/more/month", ONE, null)).hasStatus(429)
			.hasHeader("Retry-After", String.valueOf(Duration.between(now, end).toSeconds()))
			.hasHeader("RateLimit-Policy", "\"more-month\";q=5");
	}

	/** The seconds that it would wait, the status, and the seconds that have passed. */
	@ParameterizedTest
	@CsvSource({ "10, 200, 2", "1, 429, 0", "-1, 429, 0" })
	void callerWaitsIfItsTimeCanSuffice(int seconds, int status, int passed) {
		assertThat(inLine(0)).hasStatus(200);
		Instant before = this.clock.instant();
		assertThat(inLine(seconds)).hasStatus(status);
		assertThat(this.clock.instant()).isEqualTo(before.plusSeconds(passed));
	}

	private MvcTestResult inLine(int seconds) {
		return this.mvc.get().uri("/more/waiting?seconds=" + seconds).header("X-Client", "in-line").exchange();
	}

	@Test
	void policyInCodeLimitsMethodThatAnswersLater() {
		assertThat(send(HttpMethod.GET, "/quote", ONE, null)).hasStatus(200)
			.hasHeader("RateLimit-Policy", "\"quotes\";q=1;w=10")
			.hasBodyTextEqualTo("Less is more\n");
	}

	/** The recipe {@code docs/login.md}, which is tested for itself. */
	@Test
	void guessesAreLimitedAndRightPasswordIsFreeAndClears() {
		for (int i = 0; i < 5; i++) {
			for (String name : new String[] { "alice", " Alice\u3000", "\uff41lice", "\ud835\udc00LICE" }) {
				assertThat(logIn(ONE, name, "guess", "user-" + i)).hasStatus(401);
			}
			assertThat(logIn(ONE, "ALICE", "wonderland", null)).hasStatus(200).hasBodyTextEqualTo("Welcome, alice\n");
		}
		for (int i = 0; i < 9; i++) {
			assertThat(logIn(OTHER, "alice", "guess", "user-" + i)).hasStatus((i < 5) ? 401 : 429);
		}
		assertThat(logIn(OTHER, "aLiCe", "wonderland", null)).hasStatus(429).hasHeader("Retry-After", "900");
		assertThat(logIn(ONE, "\uff21LICE ", "wonderland", null)).hasStatus(200);
	}

	/** It would be kept, and nobody has it. */
	@ParameterizedTest
	@CsvSource({ "100, 429, 200", "101, 401, 401" })
	void longNameIsNoAccount(int length, int counted, int form) {
		String name = "a".repeat(length);
		for (int i = 0; i < 5; i++) {
			assertThat(logIn(ONE, name, "guess", null)).hasStatus(401);
		}
		assertThat(logIn(ONE, name, "guess", null)).hasStatus(counted);
		assertThat(this.mvc.post().uri("/more/login").param("username", name).param("password", "right"))
			.hasStatus(form);
	}

	@Test
	void largeReportsCostMoreAndAreSentLater() {
		assertThat(send(HttpMethod.GET, "/report?rows=500", ONE, "anna")).hasStatus(200)
			.hasHeader("X-Rate-Limit-Remaining", "4")
			.hasBodyTextEqualTo("A report of 500 rows%n".formatted());
		assertThat(send(HttpMethod.GET, "/report?rows=500", ONE, "anna")).hasStatus(200)
			.hasBodyTextEqualTo("The report of 500 rows will be sent to you%n".formatted());
		assertThat(send(HttpMethod.GET, "/report?rows=10", ONE, "anna")).hasHeader("X-Rate-Limit-Remaining", "3");
	}

	@Test
	void everyAlgorithmHasDemo() {
		for (Algorithm algorithm : Algorithms.all()) {
			String path = "/demo/" + algorithm.name();
			for (int i = 0; i < 5; i++) {
				assertThat(send(HttpMethod.GET, path, ONE, null)).hasStatus(200);
			}
			assertThat(send(HttpMethod.GET, path, ONE, null)).hasStatus(429)
				.bodyText()
				.contains("[\"demo-%s\"]".formatted(algorithm.name()));
		}
	}

	@Test
	void pageAndActuatorAreNotLimited() {
		for (String uri : new String[] { "/index.html", "/playground/main.js", "/playground/playground.css",
				"/application.yml", "/actuator/ratelimits", "/actuator/ratelimits/denied",
				"/actuator/metrics/ratelimit.decisions" }) {
			assertThat(send(HttpMethod.GET, uri, ONE, null)).hasStatus(200)
				.headers()
				.doesNotContainHeader("RateLimit-Policy");
		}
	}

	@Test
	void shadowModeReportsAndDeniesNobody() {
		for (int i = 0; i < 5; i++) {
			assertThat(send(HttpMethod.GET, "/more/shadow", ONE, null)).hasStatus(200)
				.headers()
				.doesNotContainHeader("RateLimit");
		}
		assertThat(this.meters.get("ratelimit.decisions")
			.tags("policy", "more-shadow", "outcome", "shadow-denied")
			.timer()
			.count()).isEqualTo(2);
	}

	@ParameterizedTest
	@CsvSource({ "GET, /redis", "POST, /redis/stop", "GET, /demo/guess" })
	void neitherRedisOfOthersNorUnknownAlgorithmIsShown(String method, String path) {
		assertThat(send(HttpMethod.valueOf(method), path, "127.0.0.1", null)).hasStatus(404);
	}

	@ParameterizedTest
	@CsvSource({ ONE + ", localhost, http://localhost", "127.0.0.1, rebound.example, http://rebound.example",
			"127.0.0.1, localhost, https://example.com" })
	void nobodyElsewhereChangesAnything(String address, String host, String origin) {
		for (String path : new String[] { "/redis/stop", "/shared/second", "/actuator/ratelimits/blocks" }) {
			assertThat(this.mvc.post().uri("http://" + host + path).remoteAddress(address).header("Origin", origin))
				.hasStatus(403);
		}
	}

	private MvcTestResult logIn(String address, String name, String password, String user) {
		MockMvcTester.MockMvcRequestBuilder request = this.mvc.post()
			.uri("/login")
			.remoteAddress(address)
			.contentType(MediaType.APPLICATION_JSON)
			.content(JsonMapper.shared().writeValueAsString(Map.of("username", name, "password", password)));
		return ((user != null) ? request.header("X-User", user) : request).exchange();
	}

	private MvcTestResult search() {
		return send(HttpMethod.GET, "/api/search?q=redis", ONE, null);
	}

	private MvcTestResult send(HttpMethod method, String uri, String address, String user) {
		MockMvcTester.MockMvcRequestBuilder request = this.mvc.method(method).uri(uri).remoteAddress(address);
		return ((user != null) ? request.header("X-User", user) : request).exchange();
	}

	@TestConfiguration(proxyBeanMethods = false)
	static class ClockConfiguration {

		@Bean
		ManualClock clock() {
			return new ManualClock("2026-01-01T00:00:00Z");
		}

		@Bean
		Time time(ManualClock clock) {
			return new ManualTime(clock);
		}

		@Bean
		RateLimiter rateLimiter(ManualClock clock) {
			return RedisRateLimiter.of(TestRedis.connections(), TestRedis.newKeyPrefix()).withClock(clock);
		}

	}

}
