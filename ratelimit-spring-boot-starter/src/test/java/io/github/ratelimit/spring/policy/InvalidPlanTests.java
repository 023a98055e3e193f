package io.github.ratelimit.spring.policy;

import java.util.Arrays;

import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.StartFailure;
import io.github.ratelimit.spring.StarterRunners;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.test.context.runner.AbstractApplicationContextRunner;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Plans that cannot be enforced stop the start.
 */
class InvalidPlanTests {

	private final WebApplicationContextRunner web = StarterRunners.web()
		.withPropertyValues("ratelimit.policies.api.limits=10/m", "ratelimit.policies.api.paths=/api/**");

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					plan='a';policies.api.plans.pro.unlimited=false | policies.api.plans.pro         | Is an empty plan: give it limits, such as 100/m, or unlimited: true.
					plan='a';policies.api.plans.pro.unlimited=true;policies.api.plans.pro.limits=1/m | policies.api.plans.pro | Has limits, but is unlimited as well: remove one of them.
					plan='a';policies.api.plans.pro.limits=often    | policies.api.plans.pro.limits  | Invalid limit (often): must be quota/window
					plan='a';policies.api.plans.pro.limits=1/m,2/m  | policies.api.plans.pro.limits  | there must be only one limit for the window m.
					plan='a';policies.api.plans.pro.limits=300000000000/m | policies.api.plans.pro.limits  | the quota must be at most 274877906944 for sliding-window.
					plan='a';policies.api.cost=5;policies.api.plans.pro.limits=4/m | policies.api.cost | Invalid cost (5): the limit 4/m of the plan 'pro' would never allow it.
					plan='a';policies.api.plans[A b].limits=often   | policies.api.plans[A b].limits | Invalid limit (often)
					policies.api.plans.pro.limits=4/m               | policies.api.plans             | The plans of users are unknown: set ratelimit.plan, or provide a PlanResolver bean.
					plan='a'                                        | plan                           | Has no effect, because no policy has plans
					plan=#who;policies.api.plans.pro.limits=4/m     | plan                           | Invalid expression (#who): #who is not allowed
					plan=;policies.api.plans.pro.limits=4/m         | plan                           | Invalid expression (): is empty; in YAML, # begins a comment unless the expression is in quotes.
					plan=(;policies.api.plans.pro.limits=4/m        | plan                           | EL1044E: Unexpectedly ran out of input
					plan='a';policies.api.plans.pro.limits=4/m;plan-cache-ttl=-1s | plan-cache-ttl   | Must be from 0 to 1d.
					plan='a';policies.api.plans.pro.limits=4/m;plan-cache-ttl=2d  | plan-cache-ttl   | Must be from 0 to 1d.
					plan-cache-ttl=5m                               | plan-cache-ttl                 | Has no effect, because no policy has plans: add ratelimit.policies.NAME.plans.
					plan-cache-ttl=1m                               | plan-cache-ttl                 | Has no effect, because no policy has plans
					""")
	void startFailsWithPropertyAndRule(String properties, String property, String rule) {
		assertRefused(this.web, properties, "ratelimit." + property, rule);
	}

	@Test
	void startFailsWhenThereAreExpressionAndBean() {
		assertRefused(this.web.withBean(PlanResolver.class, () -> (user, request) -> "pro"),
				"plan='a';policies.api.plans.pro.limits=4/m", "ratelimit.plan",
				"There is a PlanResolver bean as well (");
	}

	@Test
	void startFailsWhenThereAreNoUsers() {
		ApplicationContextRunner runner = StarterRunners.nonWeb()
			.withPropertyValues("ratelimit.defaults.identifiers=global", "ratelimit.policies.api.limits=10/m");
		assertRefused(runner, "policies.api.plans.pro.limits=4/m", "ratelimit.policies.api.plans",
				"Plans can be used only in a Servlet web application.");
		assertRefused(runner, "plan='a'", "ratelimit.plan", "Plans can be used only in a Servlet web application.");
		assertRefused(runner, "plan-cache-ttl=5m", "ratelimit.plan-cache-ttl",
				"Plans can be used only in a Servlet web application.");
	}

	@Test
	void beanNeedsNoPlans() {
		this.web.withBean(PlanResolver.class, () -> (user, request) -> "pro")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void expressionNeedsNoPlansWhenPoliciesMayGetThem() {
		this.web.withBean(PolicySource.class, () -> (policy, caller) -> policy)
			.withPropertyValues("ratelimit.plan='pro'", "ratelimit.plan-cache-ttl=5m")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void startFailsWhenThereAreTwoBeans() {
		this.web.withBean("one", PlanResolver.class, () -> (user, request) -> "pro")
			.withBean("other", PlanResolver.class, () -> (user, request) -> "pro")
			.run((context) -> assertThat(context).getFailure().isInstanceOf(NoUniqueBeanDefinitionException.class));
	}

	@Test
	void timeToLiveWithoutPlansIsRefusedBesideABean() {
		assertRefused(this.web.withBean(PlanResolver.class, () -> (user, request) -> "pro"), "plan-cache-ttl=0",
				"ratelimit.plan-cache-ttl", "Has no effect, because no policy has plans");
	}

	private static void assertRefused(AbstractApplicationContextRunner<?, ?, ?> runner, String properties,
			String property, String rule) {
		runner
			.withPropertyValues(
					Arrays.stream(properties.split(";")).map((text) -> "ratelimit." + text).toArray(String[]::new))
			.run((context) -> StartFailure.assertRefused(context, property, rule));
	}

}
