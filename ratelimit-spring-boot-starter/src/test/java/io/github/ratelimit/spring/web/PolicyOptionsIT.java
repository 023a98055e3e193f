package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.policy.RateLimitPoliciesCustomizer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

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
		assertThat(denied.headers().allValues("X-Rate-Limit-Remaining")).containsExactly("0");
		assertThat(denied.headers().allValues("Content-Type")).containsExactly("application/problem+json");
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

	@Test
	void policyAppliesIfWhenIsTrueAndUnlessIsFalse() {
		assertThat(this.application.statuses(2, "/web", "X-Channel", "web")).containsExactly(200, 420);
		assertThat(this.application.statuses(2, "/web", "X-Channel", "app")).containsExactly(200, 200);
		assertThat(this.application.statuses(2, "/web", "X-Channel", "web", "X-Probe", "yes")).containsExactly(200,
				200);
	}

	@Test
	void conditionsInCodeDecideWhetherAPolicyApplies(CapturedOutput output) {
		assertThat(this.application.statuses(2, "/code")).containsOnly(200);
		assertThat(this.application.statuses(2, "/code", "X-Channel", "web", "X-Probe", "yes")).containsOnly(200);
		assertThat(this.application.statuses(2, "/code", "X-Channel", "web")).containsExactly(200, 420);
		assertThat(this.application.get("/code", "X-Channel", "fail").statusCode()).isEqualTo(420);
		assertThat(output).containsOnlyOnce(
				"The condition ratelimit.policies.code.when failed, so that its policy applies: java.lang.IllegalStateException");
	}

	@Test
	void conditionsHoldForAnnotatedMethods() {
		assertThat(this.application.statuses(2, "/method", "X-Probe", "yes")).containsExactly(200, 200);
		assertThat(this.application.statuses(2, "/method", "X-Probe", "no")).containsExactly(200, 420);
	}

	@Test
	void policyAppliesWhenConditionFails(CapturedOutput output) {
		assertThat(this.application.statuses(2, "/odd", "X-Odd", "abc")).containsExactly(200, 200);
		assertThat(this.application.statuses(2, "/odd", "X-Other", "s3cr3t")).containsExactly(200, 420);
		assertThat(output).containsOnlyOnce("The condition ratelimit.policies.odd.when failed")
			.contains("METHOD_CALL_ON_NULL_OBJECT_NOT_ALLOWED")
			.doesNotContain("s3cr3t");
	}

	@Test
	void policyAppliesWhenConditionIsNull(CapturedOutput output) {
		assertThat(this.application.statuses(2, "/none", "X-Other", "a")).containsExactly(200, 420);
		assertThat(output).containsOnlyOnce("The condition ratelimit.policies.none.when failed")
			.contains("its value is null");
	}

	@OpenApplication
	@RestController
	static class Application {

		@Bean
		static RateLimitPoliciesCustomizer limits() {
			return (policies) -> policies.add("code")
				.paths("/code")
				.limits("1/m")
				.when((request) -> isOfWeb(request.getHeader("X-Channel")))
				.unless((request) -> "yes".equals(request.getHeader("X-Probe")));
		}

		private static boolean isOfWeb(String channel) {
			if ("fail".equals(channel)) {
				throw new IllegalStateException("secret");
			}
			return "web".equals(channel);
		}

		@RequestMapping({ "/api/**", "/web", "/odd", "/none", "/code" })
		String path() {
			return "served";
		}

		@GetMapping("/method")
		@RateLimited("method")
		public String method() {
			return "served";
		}

	}

}
