package io.github.ratelimit.sample;

import java.time.Duration;
import java.util.Map;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestRedis;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
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
			MvcTestResult result = search(ONE, null);
			assertThat(result).hasStatus(200).bodyText().isEqualTo("Results for 'redis'\n");
			assertThat(result).headers()
				.hasValue("X-Rate-Limit-Limit", "10")
				.hasValue("X-Rate-Limit-Remaining", String.valueOf(remaining));
		}
		MvcTestResult denied = search(ONE, null);
		assertThat(denied).hasStatus(429)
			.hasContentType("application/problem+json")
			.bodyJson()
			.extractingPath("$['violated-policies']")
			.asArray()
			.containsExactly("search/s");
		assertThat(denied).headers()
			.hasValue("Retry-After", "1")
			.hasValue("RateLimit-Policy", "\"search/s\";q=10;w=1, \"search/m\";q=120;w=60, \"search/h\";q=240;w=3600");
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(search(ONE, null)).hasStatus(200);
	}

	@Test
	void readingCostsOneAndWritingTwo() {
		assertRemaining(send(HttpMethod.GET, "/user", ONE, null), "9");
		assertRemaining(send(HttpMethod.POST, "/user", ONE, null), "7");
		assertRemaining(send(HttpMethod.GET, "/user", ONE, null), "6");
		for (String remaining : new String[] { "4", "2", "0" }) {
			assertRemaining(send(HttpMethod.POST, "/user", ONE, null), remaining);
		}
		assertThat(send(HttpMethod.GET, "/user", ONE, null)).hasStatus(429);
		assertRemaining(send(HttpMethod.GET, "/user", OTHER, null), "9");
	}

	@Test
	void policyInCodeLimitsMethodThatAnswersLater() {
		for (int i = 0; i < 3; i++) {
			assertThat(send(HttpMethod.GET, "/quote", ONE, null)).hasStatus(200).bodyText().isEqualTo("Less is more\n");
		}
		assertThat(send(HttpMethod.GET, "/quote", ONE, null)).hasStatus(429)
			.headers()
			.hasValue("RateLimit-Policy", "\"quotes\";q=1;w=10");
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

	@Test
	void largeReportsCostMoreAndAreSentLater() {
		assertThat(send(HttpMethod.GET, "/report?rows=500", ONE, "anna")).hasStatus(200)
			.hasHeader("X-Rate-Limit-Remaining", "4")
			.hasBodyTextEqualTo("A report of 500 rows%n".formatted());
		assertThat(send(HttpMethod.GET, "/report?rows=500", ONE, "anna")).hasStatus(200)
			.hasBodyTextEqualTo("The report of 500 rows will be sent to you%n".formatted());
		assertThat(send(HttpMethod.GET, "/report?rows=10", ONE, "anna")).hasHeader("X-Rate-Limit-Remaining", "3");
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void everyAlgorithmHasDemo(String algorithm) {
		for (int i = 0; i < 5; i++) {
			assertThat(send(HttpMethod.GET, "/demo/" + algorithm, ONE, null)).hasStatus(200)
				.bodyText()
				.isEqualTo("Allowed by " + algorithm + "\n");
		}
		MvcTestResult denied = send(HttpMethod.GET, "/demo/" + algorithm, ONE, null);
		assertThat(denied).hasStatus(429)
			.bodyJson()
			.extractingPath("$['violated-policies']")
			.asArray()
			.containsExactly("demo-" + algorithm);
	}

	static Iterable<String> algorithms() {
		return Algorithms.all().stream().map(Algorithm::name).toList();
	}

	@Test
	void costOfDemoIsThatOfParameter() {
		assertRemaining(send(HttpMethod.GET, "/demo/sliding-log?cost=3", ONE, null), "2");
		assertThat(send(HttpMethod.GET, "/demo/sliding-log?cost=3", ONE, null)).hasStatus(429);
		assertRemaining(send(HttpMethod.GET, "/demo/sliding-log?cost=-3", ONE, null), "1");
		assertRemaining(send(HttpMethod.GET, "/demo/sliding-log?cost=much", ONE, null), "0");
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
	void plansHaveLimitsOfTheirOwn() {
		assertAllowed(1, null);
		assertAllowed(3, "free-anna");
		assertAllowed(10, "pro-paul");
	}

	private void assertAllowed(int quota, String user) {
		for (int i = 0; i < quota; i++) {
			assertThat(send(HttpMethod.GET, "/more/plans", ONE, user)).hasStatus(200)
				.hasHeader("X-Rate-Limit-Limit", String.valueOf(quota));
		}
		assertThat(send(HttpMethod.GET, "/more/plans", ONE, user)).hasStatus(429);
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

	private MvcTestResult search(String address, String user) {
		return send(HttpMethod.GET, "/api/search?q=redis", address, user);
	}

	private MvcTestResult send(HttpMethod method, String uri, String address, String user) {
		MockMvcTester.MockMvcRequestBuilder request = this.mvc.method(method).uri(uri).remoteAddress(address);
		return ((user != null) ? request.header("X-User", user) : request).exchange();
	}

	private static void assertRemaining(MvcTestResult result, String remaining) {
		assertThat(result).hasStatus(200).headers().hasValue("X-Rate-Limit-Remaining", remaining);
	}

	@TestConfiguration(proxyBeanMethods = false)
	static class ClockConfiguration {

		@Bean
		ManualClock clock() {
			return new ManualClock("2026-01-01T00:00:00Z");
		}

		@Bean
		RateLimiter rateLimiter(ManualClock clock) {
			return RedisRateLimiter.of(TestRedis.connections(), TestRedis.newKeyPrefix()).withClock(clock);
		}

	}

}
