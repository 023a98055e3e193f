package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.security.Principal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.RateLimitExemption;
import io.github.ratelimit.spring.actuate.RateLimitsEndpoint;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.Plan;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.servlet.support.RequestContextUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Policies beside Spring Security: those before the login count addresses, and those
 * after it users. Those with plans count who comes through it, also when a
 * {@link PolicySource} changes them, and a second policy counts who does not. Policies
 * that count denied requests keep whoever goes on trying denied.
 */
@StartApplication(value = """
		ratelimit:
		  plan-cache-ttl: 0
		  ip.trusted-proxies: 127.0.0.1
		  policies:
		    login: { paths: [/form, /basic], limits: 5/15m, identifiers: [ip, user],
		      count-when: 'status in [401]' }
		    guarded: { paths: /guarded, limits: 2/m, plans.pro.limits: 4/m }
		    guesses: { paths: /guarded, limits: 2/m, count-when: 'status in [401]' }
		    tariff: { paths: /tariff, limits: 2/m, plans.pro.limits: [4/m, 100/h],
		      plans.partner.unlimited: true }
		    open: { paths: /open, limits: 1/m, plans.partner.unlimited: true }
		    api: { paths: /api, limits: 1/m, identifiers: user, plans: { free.limits: 2/m, pro.limits: [4/m, 100/h],
		      partner.unlimited: true } }
		    method: { limits: 1/m, identifiers: user, plans.free.limits: 2/m }
		    address: { paths: /address, limits: 1/m }
		    user: { paths: /user, limits: 2/m, identifiers: user }
		    counted: { paths: /counted, limits: 3/m }
		    outer: { paths: [/mixed, /method, /nobody], limits: 5/m }
		    everyone: { paths: /everyone, limits: 3/m, identifiers: [ip, user] }
		    inner: { paths: /mixed, limits: 1/m, identifiers: user }
		    exempt: { paths: /exempt, limits: 1/m, identifiers: user }
		    running: { paths: /running, concurrent: 1, identifiers: [ip, user] }
		    known: { paths: /nobody, limits: 1/m, identifiers: user, missing-identifier: deny }
		    named: { paths: /named, limits: 1/m, identifiers: user }
		    only: { paths: /only, limits: 0/m, plans.pro.limits: 2/m }
		    hammered: { paths: /hammered, limits: 2/m, identifiers: [ip, user], count-denied: true,
		      algorithm: sliding-log }
		    failed: { paths: /failed, limits: 2/m, identifiers: [ip, user], count-denied: true,
		      count-when: 'status in [401]', algorithm: sliding-log }
		management.endpoints.web.exposure.include: ratelimits
		management.endpoint.ratelimits.access: unrestricted
		# In all other tests it is where Spring Boot puts it.
		spring.security.filter.order: 0
		""")
class LoginIT extends WithApplication {

	@BeforeEach
	void changeLimitOfAnna() {
		LoginApplication.sources.clear();
		LoginApplication.sources.put("named", (policy, caller) -> Identifier.user("anna").equals(caller.find("user"))
				? policy.withLimits(List.of(Limit.parse("3/m"))) : policy);
	}

	/** What a right login has used is given back after its response. */
	@ParameterizedTest
	@ValueSource(strings = { "/form", "/basic" })
	void wrongLoginsAreLimitedAndRightOnesAreFree(String path) {
		for (int failed = 0; failed < 8; failed++) {
			for (String user : List.of("anna", "berta")) {
				assertThat(logIn(path, user, "secret").statusCode()).isEqualTo((failed < 5) ? 200 : 429);
				this.application.assertUsed("login", Math.min(failed, 5));
			}
			assertThat(logIn(path, "anna", "wrong").statusCode()).isEqualTo((failed < 5) ? 401 : 429);
		}
		HttpResponse<String> denied = logIn(path, "anna", "wrong");
		assertThat(denied.body()).contains("\"violated-policies\":[\"login\"]");
		assertThat(denied.headers().allValues("RateLimit-Policy")).containsExactly("\"login\";q=5;w=900");
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("900");
	}

	/**
	 * Whoever comes through is limited by the plan; wrong logins count by another policy.
	 */
	@ParameterizedTest
	@CsvSource({ "/tariff, anna, secret, 200 200 200 200 429", "/tariff, berta, secret, 200 200 429",
			"/tariff, clara, secret, 200 200 200 200 200", "/tariff, anna, wrong, 401 401 401 401 401",
			"/only, anna, secret, 200 200 429", "/only, berta, secret, 429", "/named, anna, secret, 200 200 200 429",
			"/named, berta, secret, 200 429", "/method, carla, secret, 200 200 429", "/method, berta, secret, 200 429",
			"/api, carla, secret, 200 200 429", "/api, berta, secret, 200 429", "/guarded, anna, wrong, 401 401 429" })
	void userHasLimitsOfThePlan(String path, String user, String password, String statuses) {
		for (String status : statuses.split(" ")) {
			assertThat(logIn(path, user, password).statusCode()).asString().isEqualTo(status);
		}
		this.application.assertUsed("guarded", 0);
	}

	@Test
	void headersAreThoseOfThePlan() {
		assertThat(logIn("/tariff", "anna", "secret").headers().allValues("RateLimit-Policy"))
			.containsExactly("\"tariff/m\";q=4;w=60, \"tariff/h\";q=100;w=3600");
		for (String password : List.of("secret", "wrong")) {
			assertThat(logIn("/tariff", "clara", password).headers().map()).doesNotContainKeys("RateLimit",
					"RateLimit-Policy", "X-Rate-Limit-Limit");
		}
		assertThat(logIn("/guarded", "berta", "wrong").headers().firstValue("RateLimit").orElseThrow())
			.startsWith("\"guesses\";r=1;");
	}

	@Test
	void anonymousRequestHasNoPlan() {
		assertThat(this.application.statuses(2, "/open")).containsExactly(200, 429);
	}

	@Test
	void firstPlansOfAPolicyCount() {
		LoginApplication.sources.put("address", (policy, caller) -> policy
			.withPlans(Map.of("pro", new Plan(policy.withLimits(List.of(Limit.parse("3/m"))).policy()))));
		assertThat(served("/address", "berta", 1)).isEqualTo(1);
		assertThat(served("/address", "berta", 5)).isZero();
		assertThat(served("/address", "anna", 5)).isEqualTo(2);
		LoginApplication.sources.clear();
		assertThat(served("/address", "anna", 5)).isZero();
	}

	@Test
	void endpointShowsAndResetsTheCountsOfEveryPlan() {
		assertThat(served("/api", "anna", 9)).isEqualTo(4);
		assertThat(counts("user:anna", "api"))
			.extracting((each) -> each.path("plan").asString("none") + " " + each.at("/limits/0/limit").stringValue()
					+ " " + each.at("/limits/0/remaining"))
			.containsExactlyInAnyOrder("none 1/m 1", "free 2/m 2", "pro 4/m 0");
		assertThat(this.application.bean(RateLimitsEndpoint.class).delete("counts", "user:anna", "api").getBody())
			.hasToString("{reset=[api]}");
		assertThat(served("/api", "anna", 9)).isEqualTo(4);
	}

	@Test
	void endpointShowsAndResetsPoliciesAsTheyAreNow() {
		LoginApplication.sources.put("address", (policy, caller) -> policy.withLimits(List.of(Limit.parse("3/2m"))));
		assertThat(served("/address", "anna", 9)).isEqualTo(3);
		RateLimitsEndpoint endpoint = this.application.bean(RateLimitsEndpoint.class);
		JsonNode policies = JsonMapper.shared().valueToTree(endpoint.policies()).path("policies");
		assertThat(policies.at("/address/limits")).hasToString("[\"3/2m\"]");
		assertThat(policies.path("address").has("plans")).isFalse();
		assertThat(policies.at("/api/plans")).hasToString("{\"free\":{\"limits\":[\"2/m\"],\"unlimited\":false},"
				+ "\"partner\":{\"limits\":[],\"unlimited\":true},\"pro\":{\"limits\":[\"4/m\",\"100/h\"],\"unlimited\":false}}");
		JsonNode counts = counts("ip:127.0.0.1", "address");
		assertThat(counts.at("/0/limits/0/remaining").longValue()).isZero();
		assertThat(counts.path(0).has("plan")).isFalse();
		endpoint.delete("counts", "ip:127.0.0.1", "address");
		assertThat(served("/address", "anna", 9)).isEqualTo(3);
	}

	private JsonNode counts(String identifier, String policy) {
		return JsonMapper.shared()
			.valueToTree(this.application.bean(RateLimitsEndpoint.class)
				.read("counts", identifier, policy, null, null)
				.getBody())
			.path("counts");
	}

	private long served(String path, String user, int requests) {
		return IntStream.range(0, requests).filter((i) -> logIn(path, user, "secret").statusCode() == 200).count();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/hammered", "/failed" })
	void deniedLoginsCountByTheAddress(String path) {
		for (String waitAndStatus : "0:401 0:401 40:429 0:429 0:429 30:429".split(" ")) {
			this.application.advance(Duration.ofSeconds(Integer.parseInt(waitAndStatus.split(":")[0])));
			assertThat(waitAndStatus).endsWith(":" + get(path, "anna:wrong", 1));
		}
		assertThat(get(path, "anna:secret", 1)).isEqualTo(429);
		assertThat(get(path, "anna:secret", 2)).isEqualTo(200);
		this.application.advance(Duration.ofMinutes(1));
		assertThat(get(path, "anna:secret", 1)).isEqualTo(200);
	}

	@Test
	void deniedRequestsCountForUserAndAddressesOnce() {
		assertThat(get("/hammered", "anna:secret", 1)).isEqualTo(200);
		assertThat(get("/hammered", "anna:secret", 2)).isEqualTo(200);
		this.application.advance(Duration.ofSeconds(40));
		assertThat(get("/hammered", "anna:secret", 3)).isEqualTo(429);
		assertThat(get("/hammered", "anna:secret", 4)).isEqualTo(429);
		this.application.assertUsed("hammered", address(3), 1);
		this.application.advance(Duration.ofSeconds(30));
		assertThat(get("/hammered", "anna:secret", 5)).isEqualTo(429);
		assertThat(get("/hammered", "berta:secret", 3)).isEqualTo(200);
	}

	private int get(String path, String login, int address) {
		return this.application.getAs(login, path, "X-Forwarded-For", address(address).value()).statusCode();
	}

	private static Identifier address(int last) {
		return Identifier.ip("203.0.113." + last);
	}

	private HttpResponse<String> logIn(String path, String user, String password) {
		return path.equals("/form") ? this.application.send("POST", "/form?username=" + user + "&password=" + password)
				: this.application.getAs(user + ":" + password, path);
	}

	/** By the user alone, the address alone, and both. */
	@ParameterizedTest
	@CsvSource({ "/user, 200, 1", "/counted, 429, 0", "/everyone, 429, 0" })
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
		List<HttpResponse<String>> responses = Stream.generate(() -> this.application.getAs("anna:secret", "/counted"))
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

	@ParameterizedTest
	@ValueSource(strings = { "/mixed", "/method" })
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
		assertThat(Stream.of("anna", "anna", "berta", "berta")
			.map((user) -> logIn("/exempt", user, "secret").statusCode())).containsExactly(200, 429, 200, 200);
	}

	/** Or those who try what they may not would never be limited. */
	@Test
	void requestDeniedForItsCallerAfterLoginCountsBefore() {
		HttpResponse<String> response = get(403, "/nobody");
		assertThat(response.headers().firstValue("RateLimit").orElseThrow()).startsWith("\"outer\";r=4;");
		this.application.assertUsed("outer", 1);
	}

	static class Application extends LoginApplication {

		/** What is left for others. */
		@GetMapping("/running")
		String running(HttpServletRequest request, Principal user) {
			ApplicationContext beans = RequestContextUtils.findWebApplicationContext(request);
			Policy policy = beans.getBean(ConfiguredPolicies.class).find("running").orElseThrow().policy();
			List<Long> left = beans.getBean(RateLimiter.class)
				.peek(RateLimitRequest.of(policy, Identifier.ip("127.0.0.1"), Identifier.user(user.getName())))
				.statuses()
				.stream()
				.map(LimitStatus::remaining)
				.toList();
			return "ip %d, user %d".formatted(left.get(0), left.get(1));
		}

		/** On this path nobody is limited but anna, who is known only after the login. */
		@Bean
		static RateLimitExemption exemption() {
			return (request) -> request.getRequestURI().equals("/exempt")
					&& (request.getUserPrincipal() == null || !request.getUserPrincipal().getName().equals("anna"));
		}

	}

}