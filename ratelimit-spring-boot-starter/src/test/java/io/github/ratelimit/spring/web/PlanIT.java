package io.github.ratelimit.spring.web;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

import io.github.ratelimit.Limit;
import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.actuate.RateLimitsEndpoint;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.Plan;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

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
 * Limits by plan, and limits that change, beside Spring Security.
 */
@StartApplication("""
		ratelimit:
		  plan-cache-ttl: 0
		  policies:
		    api: { paths: /api, limits: 1/m, identifiers: user, plans: { free.limits: 2/m, pro.limits: [4/m, 100/h],
		      partner.unlimited: true } }
		    method: { limits: 1/m, identifiers: user, plans.free.limits: 2/m }
		    address: { paths: /address, limits: 1/m }
		management.endpoints.web.exposure.include: ratelimits
		management.endpoint.ratelimits.access: unrestricted
		""")
class PlanIT {

	private static final Map<String, String> plans = new ConcurrentHashMap<>();

	private static final Map<String, String> limits = new ConcurrentHashMap<>();

	/** The limit of the plan that a policy has besides its others. */
	private static final Map<String, String> pro = new ConcurrentHashMap<>();

	@Parameter
	TestApplication application;

	@BeforeEach
	void forget() {
		plans.clear();
		limits.clear();
		pro.clear();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/api", "/method" })
	void planOfUserCountsOnPathsAndMethods(String path) {
		plans.put("anna", "free");
		assertThat(served(path, "anna", 5)).isEqualTo(2);
		assertThat(served(path, "berta", 5)).isEqualTo(1);
	}

	@ParameterizedTest
	@CsvSource({ "/address,address", "/in-place,Application.inPlace" })
	void firstPlansOfAPolicyCount(String path, String policy) {
		pro.put(policy, "3/m");
		plans.put("anna", "pro");
		assertThat(served(path, "berta", 1)).isEqualTo(1);
		assertThat(served(path, "berta", 5)).isZero();
		assertThat(served(path, "anna", 5)).isEqualTo(2);
		pro.clear();
		assertThat(served(path, "anna", 5)).isZero();
	}

	@Test
	void pathThatHasGotPlansIsCountedAfterTheLogin() {
		pro.put("address", "3/m");
		assertThat(served("/address", "anna", 5)).isEqualTo(1);
		for (int i = 0; i < 3; i++) {
			assertThat(this.application.getAs("anna:wrong", "/address").statusCode()).isEqualTo(401);
		}
	}

	@Test
	void anonymousRequestHasNoPlan() {
		plans.put("anonymousUser", "partner");
		assertThat(this.application.get("/api").statusCode()).isEqualTo(200);
		assertThat(this.application.get("/api").statusCode()).isEqualTo(429);
	}

	@Test
	void endpointShowsAndResetsTheCountsOfEveryPlan() {
		plans.put("anna", "pro");
		assertThat(served("/api", "anna", 9)).isEqualTo(4);
		RateLimitsEndpoint endpoint = this.application.bean(RateLimitsEndpoint.class);
		JsonNode counts = JsonMapper.shared()
			.valueToTree(endpoint.read("counts", "user:anna", "api", null, null).getBody())
			.path("counts");
		assertThat(counts)
			.extracting((each) -> each.path("plan").asString("none") + " " + each.at("/limits/0/limit").stringValue()
					+ " " + each.at("/limits/0/remaining"))
			.containsExactlyInAnyOrder("none 1/m 1", "free 2/m 2", "pro 4/m 0");
		assertThat(endpoint.delete("counts", "user:anna", "api").getBody()).hasToString("{reset=[api]}");
		assertThat(served("/api", "anna", 9)).isEqualTo(4);
	}

	@Test
	void endpointShowsAndResetsPoliciesAsTheyAreNow() {
		limits.put("address", "3/2m");
		assertThat(served("/address", "anna", 9)).isEqualTo(3);
		RateLimitsEndpoint endpoint = this.application.bean(RateLimitsEndpoint.class);
		JsonNode policies = JsonMapper.shared().valueToTree(endpoint.policies()).path("policies");
		assertThat(policies.at("/address/limits")).hasToString("[\"3/2m\"]");
		assertThat(policies.path("address").has("plans")).isFalse();
		assertThat(policies.at("/api/plans")).hasToString("{\"free\":{\"limits\":[\"2/m\"],\"unlimited\":false},"
				+ "\"partner\":{\"limits\":[],\"unlimited\":true},\"pro\":{\"limits\":[\"4/m\",\"100/h\"],\"unlimited\":false}}");
		JsonNode counts = JsonMapper.shared()
			.valueToTree(endpoint.read("counts", "ip:127.0.0.1", "address", null, null).getBody());
		assertThat(counts.at("/counts/0/limits/0/remaining").longValue()).isZero();
		assertThat(counts.at("/counts/0").has("plan")).isFalse();
		endpoint.delete("counts", "ip:127.0.0.1", "address");
		assertThat(served("/address", "anna", 9)).isEqualTo(3);
	}

	private long served(String path, String user, int requests) {
		return IntStream.range(0, requests)
			.filter((i) -> this.application.getAs(user + ":secret", path).statusCode() == 200)
			.count();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(TestUsers.class)
	@RestController
	static class Application {

		@GetMapping({ "/api", "/address" })
		public String get() {
			return "served";
		}

		@GetMapping("/method")
		@RateLimited("method")
		public String method() {
			return "served";
		}

		@GetMapping("/in-place")
		@RateLimited(limits = "1/m")
		public String inPlace() {
			return "served";
		}

		@Bean
		PlanResolver planResolver() {
			return (user, request) -> plans.get(user.getName());
		}

		@Bean
		PolicySource policySource() {
			return (policy, caller) -> {
				String limit = limits.get(policy.policy().name());
				return withPro((limit != null) ? policy.withLimits(List.of(Limit.parse(limit))) : policy);
			};
		}

		private static IdentifiedPolicy withPro(IdentifiedPolicy policy) {
			String limit = pro.get(policy.policy().name());
			return (limit == null) ? policy : policy
				.withPlans(Map.of("pro", new Plan(policy.withLimits(List.of(Limit.parse(limit))).policy())));
		}

		@Bean
		SecurityFilterChain security(HttpSecurity http) {
			return http.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
				.httpBasic(Customizer.withDefaults())
				.build();
		}

	}

}
