package io.github.ratelimit.spring.web.identify;

import java.util.List;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.test.ManualClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The log warns of plans that no policy lists.
 */
@ExtendWith(OutputCaptureExtension.class)
class PlanOfRequestTests {

	private static final String UNLISTED = "is in no policy, so that the limits without a plan apply.";

	private final WebApplicationContextRunner runner = StarterRunners.web()
		.withBean(MemoryRateLimiter.class, () -> new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z")))
		.withPropertyValues("ratelimit.policies.api.limits=10/m", "ratelimit.policies.api.paths=/api/**",
				"ratelimit.policies.api.plans.pro.limits=100/m");

	@Test
	void planThatNoPolicyListsIsToldOnce(CapturedOutput output) {
		this.runner
			.withPropertyValues("ratelimit.plan=#principal.name", "ratelimit.plan-cache-ttl=0",
					"ratelimit.policies.other.limits=1/m", "ratelimit.policies.other.plans.gold.limits=2/m")
			.run((context) -> {
				UserPlans plans = context.getBean(UserPlans.class);
				for (String plan : List.of("pro", "gold", "Pro", "Pro", "gold\nplated")) {
					MockHttpServletRequest request = new MockHttpServletRequest();
					request.setUserPrincipal(() -> plan);
					assertThat(plans.find(request)).isEqualTo(plan);
				}
				assertThat(output.toString().lines().filter((line) -> line.contains(UNLISTED))).satisfiesExactly(
						(line) -> assertThat(line).contains("The plan 'Pro' of a user",
								"Did you mean 'pro'? The plans of policies are [gold, pro]"),
						(line) -> assertThat(line).contains("The plan 'gold?plated' of a user"));
			});
	}

	@Test
	void planThatCodeNamesIsToldOnce(CapturedOutput output) {
		this.runner
			.withPropertyValues("ratelimit.plan=#principal.name", "ratelimit.policies.mail.limits=1/m",
					"ratelimit.policies.mail.identifiers=user")
			.run((context) -> {
				PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
				for (String plan : List.of("pro", "prop", "prop")) {
					limiter.peek(PolicyLimiter.Use.of("mail", Identifier.user("a")).withPlan(plan));
				}
				assertThat(output.toString().lines().filter((line) -> line.contains(UNLISTED))).singleElement()
					.asString()
					.contains("The plan 'prop' of a user");
			});
	}

	@Test
	void nothingIsToldWhenPoliciesMayGetPlans(CapturedOutput output) {
		this.runner.withPropertyValues("ratelimit.plan=#principal.name")
			.withBean(PolicySource.class, () -> (policy, caller) -> policy)
			.run((context) -> {
				MockHttpServletRequest request = new MockHttpServletRequest();
				request.setUserPrincipal(() -> "other");
				assertThat(context.getBean(UserPlans.class).find(request)).isEqualTo("other");
				assertThat(output).doesNotContain(UNLISTED);
			});
	}

}
