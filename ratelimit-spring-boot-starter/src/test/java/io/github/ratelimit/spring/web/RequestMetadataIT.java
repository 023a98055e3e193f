package io.github.ratelimit.spring.web;

import java.util.List;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.LogEntry;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RequestHistory;
import io.github.ratelimit.spring.actuate.RateLimitsEndpoint;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The option {@code metadata}, from a file to the endpoint.
 */
@ExtendWith(OutputCaptureExtension.class)
class RequestMetadataIT {

	private static TestApplication application;

	@BeforeAll
	static void start() {
		application = TestApplication.startWithOwnLimiter(TestApplication.WithMethod.class, """
				management.endpoints.web.exposure.include: ratelimits
				ratelimit:
				  redis.url: %s
				  key-prefix: %s
				  defaults: { identifiers: "header:X-Key", missing-identifier: skip, algorithm: sliding-log }
				  policies:
				    users: { paths: "/*", limits: 100/d, metadata: "#request.getHeader('X-User')" }
				    places: { paths: /both, limits: 100/d, metadata: "#query['place']" }
				    broken: { paths: /broken, limits: 100/d, metadata: "#request.getHeader('X-User').substring(9)" }
				    method: { limits: 100/d, metadata: "#request.requestURI" }
				""".formatted(TestRedis.uri(), TestRedis.newKeyPrefix()));
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	private static List<String> log(String policy, String key) {
		return application.bean(RequestHistory.class)
			.entries(application.bean(ConfiguredPolicies.class).find(policy).orElseThrow().policy(),
					new Identifier("header:X-Key", key))
			.stream()
			.map(LogEntry::metadata)
			.toList();
	}

	@Test
	void endpointShowsWhoseRequestsFilledLimit() {
		application.get("/one", "X-Key", "shown", "X-User", "anna");
		application.get("/one", "X-Key", "shown", "X-User", "bert");
		Object counts = application.bean(RateLimitsEndpoint.class)
			.read("counts", "header:X-Key:shown", "users", null, null)
			.getBody();
		assertThat(JsonMapper.shared().valueToTree(counts).at("/counts/0/requests"))
			.extracting((request) -> request.path("metadata").stringValue())
			.containsExactly("bert", "anna");
	}

	@Test
	void requestWithoutValueHasNone() {
		assertThat(application.get("/one", "X-Key", "none").statusCode()).isEqualTo(200);
		assertThat(log("users", "none")).containsExactly("");
	}

	@Test
	void requestKeepsMetadataOfAllItsPolicies() {
		application.get("/both?place=Paris", "X-Key", "both", "X-User", "anna");
		application.get("/both?place=anna", "X-Key", "both", "X-User", "anna");
		assertThat(log("users", "both")).containsExactly("anna", "anna; Paris");
		assertThat(log("places", "both")).containsExactly("anna", "anna; Paris");
	}

	@Test
	void callOfMethodHasMetadataOfItsRequest() {
		application.get("/method", "X-Key", "method");
		assertThat(log("method", "method")).containsExactly("/method");
	}

	@Test
	void longMetadataIsCut() {
		String longest = "x".repeat(RateLimitRequest.MAX_METADATA_LENGTH);
		assertThat(application.get("/one", "X-Key", "long", "X-User", longest + "y").statusCode()).isEqualTo(200);
		assertThat(log("users", "long")).containsExactly(longest);
	}

	@Test
	void failureIsLoggedOnceAndRequestIsLimited(CapturedOutput output) {
		application.get("/broken", "X-Key", "failed", "X-User", "anna");
		application.get("/broken", "X-Key", "failed", "X-User", "anna");
		assertThat(log("broken", "failed")).containsExactly("anna", "anna");
		assertThat(output).containsOnlyOnce("ratelimit.policies.broken.metadata failed").doesNotContain("anna");
	}

}
