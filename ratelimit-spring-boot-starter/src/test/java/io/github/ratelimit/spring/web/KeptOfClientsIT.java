package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.List;

import io.github.ratelimit.Block;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LogEntry;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RequestHistory;
import io.github.ratelimit.spring.actuate.RateLimitsEndpoint;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestHeader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What is kept of clients beside their counts: metadata of their requests, and blocks of
 * those who are denied too often.
 */
@StartApplication(ownLimiter = true,
		value = """
				management.endpoints.web.exposure.include: ratelimits
				ratelimit:
				  ip.trusted-proxies: 127.0.0.1
				  denial-cache.enabled: false
				  plan: "'pro'"
				  policies:
				    login: &login { paths: /login, limits: 5/15m, count-when: 'status in [401]', plans.pro.limits: 7/15m,
				      penalty: &penalty { after: 20, within: 1m, block: 15m, up-to: 24h } }
				    trial: { <<: *login, paths: /trial, penalty: { <<: *penalty, mode: shadow } }
				    shadow: { <<: *login, paths: /shadow, mode: shadow }
				    users: &keyed { paths: /logged/*, limits: 100/d, identifiers: "header:X-Key", missing-identifier: skip,
				      algorithm: sliding-log, metadata: "#request.getHeader('X-User')" }
				    places: { <<: *keyed, paths: /logged/both, metadata: "#query['place']" }
				    broken: { <<: *keyed, paths: /logged/broken, metadata: "#request.getHeader('X-User').substring(9)" }
				    method: { limits: 100/d, identifiers: "header:X-Key", algorithm: sliding-log, metadata: "#request.requestURI" }
				""")
class KeptOfClientsIT extends WithApplication {

	private static final String REASON = "denied 20 times in 1m by policy 'login'";

	/** The recipe for logins. */
	@Test
	void whoGoesOnAfterTooManyWrongPasswordsIsBlocked(CapturedOutput output) {
		String[] wrong = { "X-Forwarded-For", "203.0.113.1" };
		String[] right = { "X-Forwarded-For", "203.0.113.1", "X-Password", "right" };
		assertThat(this.application.statuses(5, "/login", right)).containsOnly(200);
		assertThat(this.application.statuses(5, "/login", wrong)).containsOnly(401);
		for (int denied = 0; denied < 19; denied++) {
			assertThat(this.application.get("/login", wrong).body()).contains("quota-exceeded");
		}
		assertThat(blocks("203.0.113.1")).isEmpty();
		HttpResponse<String> blocked = get(429, "/login", wrong);
		assertThat(blocked.body()).contains("abnormal-usage-detected");
		assertThat(blocked.headers().firstValueAsLong("Retry-After")).hasValue(900);
		assertThat(this.application.get("/login", right).body()).contains("abnormal-usage-detected");
		assertThat(this.application.get("/api", wrong).statusCode()).isEqualTo(200);
		assertThat(penalties("login", "enforce")).isPositive();
		assertThat(output).contains("An identifier (ip) is blocked until ").contains(REASON);
		assertThat(blocks("203.0.113.1")).singleElement().extracting(Block::reason).isEqualTo(REASON);
	}

	@Test
	void denialsFromMemoryCount() {
		try (TestApplication cached = TestApplication.startWithOwnLimiter(Application.class,
				"""
						ratelimit.policies.login: { paths: /login, limits: 5/15m, penalty: { after: 20, within: 1m, block: 15m } }
						ratelimit.policies.method.limits: 9/m
						""")) {
			cached.statuses(5 + 20, "/login");
			await().untilAsserted(() -> assertThat(cached.bean(BlockList.class).blocks()).singleElement()
				.extracting(Block::reason)
				.isEqualTo(REASON));
			await().untilAsserted(() -> assertThat(cached.get("/login").body()).contains("abnormal-usage-detected"));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "trial", "shadow" })
	void nobodyIsBlockedInShadowMode(String policy, CapturedOutput output) {
		for (int request = 0; request < 60; request++) {
			assertThat(this.application.get("/" + policy).body()).doesNotContain("abnormal-usage-detected");
		}
		assertThat(blocks("127.0.0.1")).isEmpty();
		assertThat(penalties(policy, "shadow")).isOne();
		assertThat(output).contains("An identifier (ip) would be blocked, if this were not in shadow mode, until ")
			.containsOnlyOnce(REASON.replace("login", policy));
	}

	@Test
	void plansHaveThePenaltyOfTheirPolicy() {
		IdentifiedPolicy login = this.application.bean(ConfiguredPolicies.class).find("login").orElseThrow();
		assertThat(login.policies()).hasSize(2)
			.extracting(Policy::penalty)
			.containsOnly(login.policy().penalty())
			.doesNotContainNull();
	}

	private List<Block> blocks(String address) {
		return this.application.bean(BlockList.class)
			.blocks()
			.stream()
			.filter((block) -> block.identifier().equals(Identifier.ip(address)))
			.toList();
	}

	private double penalties(String policy, String mode) {
		return this.application.bean(MeterRegistry.class)
			.get("ratelimit.penalties")
			.tag("policy", policy)
			.tag("mode", mode)
			.counter()
			.count();
	}

	private List<String> log(String policy, String key) {
		return this.application.bean(RequestHistory.class)
			.entries(this.application.bean(ConfiguredPolicies.class).find(policy).orElseThrow().policy(),
					new Identifier("header:X-Key", key))
			.stream()
			.map(LogEntry::metadata)
			.toList();
	}

	@Test
	void endpointShowsWhoseRequestsFilledLimit() {
		this.application.get("/logged/one", "X-Key", "shown", "X-User", "anna");
		this.application.get("/logged/one", "X-Key", "shown", "X-User", "bert");
		Object counts = this.application.bean(RateLimitsEndpoint.class)
			.read("counts", "header:X-Key:shown", "users", null, null)
			.getBody();
		assertThat(JsonMapper.shared().valueToTree(counts).at("/counts/0/requests"))
			.extracting((request) -> request.path("metadata").stringValue())
			.containsExactly("bert", "anna");
	}

	@Test
	void requestKeepsMetadataOfAllItsPoliciesAndMethods() {
		this.application.get("/logged/both?place=Paris", "X-Key", "both", "X-User", "anna");
		this.application.get("/logged/both?place=anna", "X-Key", "both", "X-User", "anna");
		assertThat(log("users", "both")).containsExactly("anna", "Paris; anna");
		assertThat(log("places", "both")).containsExactly("anna", "Paris; anna");
		this.application.get("/method", "X-Key", "method");
		assertThat(log("method", "method")).containsExactly("/method");
		this.application.get("/logged/one", "X-Key", "nobody");
		assertThat(log("users", "nobody")).containsExactly("");
	}

	@Test
	void longMetadataIsCut() {
		String longest = "x".repeat(RateLimitRequest.MAX_METADATA_LENGTH);
		assertThat(this.application.get("/logged/one", "X-Key", "long", "X-User", longest + "y").statusCode())
			.isEqualTo(200);
		assertThat(log("users", "long")).containsExactly(longest);
	}

	@Test
	void failureIsLoggedOnceAndRequestIsLimited(CapturedOutput output) {
		this.application.get("/logged/broken", "X-Key", "failed", "X-User", "anna");
		this.application.get("/logged/broken", "X-Key", "failed", "X-User", "anna");
		assertThat(log("broken", "failed")).containsExactly("anna", "anna");
		assertThat(output).containsOnlyOnce("ratelimit.policies.broken.metadata failed").doesNotContain("anna");
	}

	static class Application extends TestApplication.WithMethod {

		@GetMapping({ "/login", "/trial", "/shadow" })
		ResponseEntity<String> login(@RequestHeader(name = "X-Password", defaultValue = "wrong") String password) {
			return ResponseEntity.status(password.equals("right") ? HttpStatus.OK : HttpStatus.UNAUTHORIZED).build();
		}

	}

}
