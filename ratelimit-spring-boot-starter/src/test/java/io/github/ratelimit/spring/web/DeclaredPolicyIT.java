package io.github.ratelimit.spring.web;

import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.RefreshPoliciesEvent;
import io.github.ratelimit.spring.algorithm.DailyAllowance;
import io.github.ratelimit.spring.policy.RateLimitPoliciesCustomizer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests to paths that are limited by code.
 */
@StartApplication("ratelimit.policies.replaced.limits: 3/m")
@ExtendWith(OutputCaptureExtension.class)
class DeclaredPolicyIT {

	@Parameter
	TestApplication application;

	@Test
	void pathsAndRoutesAreLimitedWithTheirCosts() {
		assertThat(this.application.statuses(3, "/search")).containsExactly(200, 200, 429);
		assertThat(this.application.statuses(4, "/search/open")).containsOnly(200);
		assertThat(this.application.statuses(2, "/dear")).containsExactly(200, 429);
		assertThat(this.application.statuses(2, "/bucket")).containsExactly(200, 429);
		assertThat(this.application.statuses(2, "/day")).containsExactly(200, 429);
	}

	@Test
	void environmentReplacesTheLimits() {
		assertThat(this.application.statuses(4, "/replaced")).containsExactly(200, 200, 200, 429);
		this.application.publish(new RefreshPoliciesEvent(this));
		assertThat(this.application.statuses(1, "/replaced")).containsExactly(429);
	}

	@Test
	void usersOfAPlanHaveItsLimits() {
		assertThat(this.application.statuses(3, "/plan", "X-User", "gold")).containsOnly(200);
		assertThat(this.application.statuses(2, "/plan", "X-User", "other")).containsExactly(200, 429);
	}

	@Test
	void conditionsInCodeDecideWhetherAPolicyApplies(CapturedOutput output) {
		assertThat(this.application.statuses(3, "/conditional")).containsOnly(200);
		assertThat(this.application.statuses(2, "/conditional", "X-Channel", "web")).containsExactly(200, 429);
		assertThat(this.application.statuses(3, "/conditional", "X-Channel", "web", "X-Probe", "yes"))
			.containsOnly(200);
		assertThat(this.application.statuses(1, "/conditional", "X-Channel", "fail")).containsExactly(429);
		assertThat(output).containsOnlyOnce(
				"The condition ratelimit.policies.conditional.when failed, so that its policy applies: java.lang.IllegalStateException");
	}

	@OpenApplication
	@RestController
	static class Application {

		@Bean
		RateLimitPoliciesCustomizer limits() {
			return (policies) -> {
				policies.add("search").paths("/search/**", "/search").exclude("/search/open").limits("2/m");
				policies.add("bucket").paths("/bucket").route(2, "/dear").limits("1/m").algorithm(new TokenBucket(3L));
				policies.add("day").paths("/day").limits("1/d").algorithm(new DailyAllowance(6));
				policies.add("replaced").paths("/replaced").limits("1/m");
				policies.add("plan").paths("/plan").limits("1/m").identifiers("user").plan("gold", "9/m");
				policies.add("conditional")
					.paths("/conditional")
					.limits("1/m")
					.when((request) -> isOfChannel(request.getHeader("X-Channel")))
					.unless((request) -> "yes".equals(request.getHeader("X-Probe")));
			};
		}

		private static boolean isOfChannel(String channel) {
			if ("fail".equals(channel)) {
				throw new IllegalStateException("secret");
			}
			return "web".equals(channel);
		}

		@Bean
		PlanResolver plans() {
			return (user, request) -> user.getName();
		}

		@Bean
		FilterRegistrationBean<HeaderLogin> login() {
			return HeaderLogin.at(Ordered.HIGHEST_PRECEDENCE);
		}

		@GetMapping("/**")
		String get() {
			return "served";
		}

	}

}
