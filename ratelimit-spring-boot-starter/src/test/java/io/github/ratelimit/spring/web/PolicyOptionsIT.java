package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;

import io.github.ratelimit.spring.policy.RateLimitPoliciesCustomizer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * To which requests a policy applies, and what denied ones are answered.
 */
@ExtendWith(OutputCaptureExtension.class)
@StartApplication("""
		ratelimit:
		  exclude: [/api/health, GET /api/logo]
		  rejection.status: 420
		  rejection.type: https://example.com/quota
		  policies:
		    api: { paths: /api/**, limits: 1/m, exclude: /api/open/** }
		    all: { paths: /api/**, limits: 100/m }
		    web: { paths: /web, limits: 1/m, when: "'web'.equals(#request.getHeader('X-Channel'))",
		      unless: "'yes'.equals(#request.getHeader('X-Probe'))" }
		    odd: { paths: /odd, limits: 1/m, when: "#request.getHeader('X-Odd').length() > 3" }
		    none: { paths: /none, limits: 1/m, when: "#request.getHeader('X-None')?.isBlank()" }
		    method: { limits: 1/m, unless: "'yes'.equals(#request.getHeader('X-Probe'))" }
		""")
class PolicyOptionsIT {

	@Parameter
	TestApplication application;

	@Test
	void deniedRequestHasStatusAndTypeOfProperties() {
		this.application.get("/api/item");
		HttpResponse<String> denied = this.application.get("/api/item");
		assertThat(denied.statusCode()).isEqualTo(420);
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("60");
		assertThat(denied.body()).startsWith("{\"type\":\"https://example.com/quota\",")
			.contains("\"status\":420,\"violated-policies\":[\"api\"]");
	}

	@Test
	void pathThatAllExcludeIsNotCounted() {
		assertThat(this.application.get("/api/health").headers().map()).doesNotContainKey("ratelimit");
		assertThat(this.application.get("/api/logo").headers().map()).doesNotContainKey("ratelimit");
		assertThat(this.application.decisions()).isZero();
		this.application.send("POST", "/api/logo");
		assertThat(this.application.decisions()).isOne();
	}

	@Test
	void pathThatPolicyExcludesCountsForOthers() {
		assertThat(this.application.get("/api/open/book").headers().firstValue("RateLimit-Policy"))
			.hasValueSatisfying((header) -> assertThat(header).contains("\"all\"").doesNotContain("\"api\""));
	}

	/** The conditions of {@code code} are written in Java. */
	@ParameterizedTest
	@CsvSource({ "/web, X-Channel: web, true, ", "/web, X-Channel: app, false, ",
			"/web, X-Channel: web; X-Probe: yes, false, ", "/code, X-Channel: web, true, ",
			"/code, X-Probe: no, false, ", "/code, X-Channel: web; X-Probe: yes, false, ",
			"/code, X-Channel: s3cr3t, true, IllegalStateException", "/method, X-Probe: no, true, ",
			"/method, X-Probe: yes, false, ", "/odd, X-Odd: abc, false, ",
			"/odd, X-Other: s3cr3t, true, METHOD_CALL_ON_NULL_OBJECT_NOT_ALLOWED",
			"/none, X-Other: s3cr3t, true, its value is null" })
	void policyAppliesIfConditionsAreMetOrFail(String path, String headers, boolean applies, @Nullable String failure,
			CapturedOutput output) {
		assertThat(this.application.statuses(2, path, headers.split("[:;] "))).containsExactly(200,
				applies ? 420 : 200);
		if (failure != null) {
			assertThat(output)
				.containsOnlyOnce("The condition ratelimit.policies.%s.when failed".formatted(path.substring(1)))
				.contains(failure)
				.doesNotContain("s3cr3t");
		}
	}

	static class Application extends TestApplication.WithMethod {

		@Bean
		static RateLimitPoliciesCustomizer limits() {
			return (policies) -> policies.add("code")
				.paths("/code")
				.limits("1/m")
				.when((request) -> isOfWeb(request.getHeader("X-Channel")))
				.unless((request) -> "yes".equals(request.getHeader("X-Probe")));
		}

		private static boolean isOfWeb(String channel) {
			if ("s3cr3t".equals(channel)) {
				throw new IllegalStateException(channel);
			}
			return "web".equals(channel);
		}

	}

}
