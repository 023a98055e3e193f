package io.github.ratelimit.spring.web;

import io.github.ratelimit.spring.StarterRunners;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The log warns of plans that are kept for a user though they depend on the request.
 */
@ExtendWith(OutputCaptureExtension.class)
class PlanOfRequestTests {

	private final WebApplicationContextRunner runner = StarterRunners.web()
		.withPropertyValues("ratelimit.policies.api.limits=10/m", "ratelimit.policies.api.paths=/api/**",
				"ratelimit.policies.api.plans.pro.limits=100/m");

	@Test
	void warningNamesBothPropertiesWhenPlanOfTheRequestIsKept(CapturedOutput output) {
		this.runner.withPropertyValues("ratelimit.plan=#request.getHeader('X-Plan')").run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).containsOnlyOnce(
					"ratelimit.plan reads #request, but ratelimit.plan-cache-ttl is PT1M: the plan of a user's first request applies to all requests of that user in this time. Set ratelimit.plan-cache-ttl to 0 if the plan differs between requests");
		});
	}

	@ParameterizedTest
	@CsvSource({ "#request.getHeader('X-Plan'), 0", "#principal.name, 1m" })
	void thereIsNoWarningOtherwise(String plan, String timeToLive, CapturedOutput output) {
		this.runner.withPropertyValues("ratelimit.plan=" + plan, "ratelimit.plan-cache-ttl=" + timeToLive)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).doesNotContain("ratelimit.plan-cache-ttl is");
			});
	}

}
