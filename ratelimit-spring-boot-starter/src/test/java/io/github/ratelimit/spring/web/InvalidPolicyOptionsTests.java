package io.github.ratelimit.spring.web;

import java.util.List;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Exclusions, conditions and answers that can be, and policies that are beans.
 */
@ExtendWith(OutputCaptureExtension.class)
class InvalidPolicyOptionsTests {

	private final WebApplicationContextRunner runner = StarterRunners.web()
		.withPropertyValues("ratelimit.policies.api.limits=10/s");

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.policies.api.exclude=/api/health,/*/open/**",
			"ratelimit.exclude=GET /api/**,/{x}/logo.png", "ratelimit.policies.api.when=#request.secure",
			"ratelimit.policies.api.unless=#request.getHeader('X')?.startsWith('a') or #request.serverPort > 9000",
			"ratelimit.policies.api.when=#request.getAttribute('x')", "ratelimit.rejection.type=/problems/quota" })
	void startSucceedsWhenOptionsCanBe(String property) {
		this.runner.withPropertyValues("ratelimit.policies.api.paths=/api/**", property)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@CsvSource({ "OfPolicy, Policy", "OfIdentifiedPolicy, IdentifiedPolicy" })
	void policyThatIsABeanStopsTheStart(String configuration, String type, CapturedOutput output) {
		Class<?> application = configuration.equals("OfPolicy") ? OfPolicy.class : OfIdentifiedPolicy.class;
		assertThatException()
			.isThrownBy(() -> StarterRunners.application(application).web(WebApplicationType.NONE).run());
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Invalid bean 'search' of type %s: it has no effect, because policies are not beans."
				.formatted(type))
			.contains("Declare it in a RateLimitPoliciesCustomizer bean, below ratelimit.policies or in @RateLimited")
			.contains("PolicySource");
	}

	@Test
	void exclusionMayBeWrittenWithoutPathOfServlet() {
		this.runner
			.withPropertyValues("spring.mvc.servlet.path=/app", "ratelimit.policies.api.paths=/app/api/**",
					"ratelimit.policies.api.exclude=/api/health")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Configuration(proxyBeanMethods = false)
	static class OfPolicy {

		@Bean
		Policy search() {
			return Policy.of("search", new SlidingWindow(), Limit.parse("1/s"));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OfIdentifiedPolicy {

		@Bean
		IdentifiedPolicy search() {
			return new IdentifiedPolicy(Policy.of("search", new SlidingWindow(), Limit.parse("1/s")), List.of("ip"));
		}

	}

}
