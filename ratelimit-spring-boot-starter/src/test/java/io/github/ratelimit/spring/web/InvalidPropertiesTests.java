package io.github.ratelimit.spring.web;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.StartFailure;
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
 * Beans that cannot be, and properties that can be or are secret. {@code start-failures}
 * has the properties that stop the start.
 */
@ExtendWith(OutputCaptureExtension.class)
class InvalidPropertiesTests {

	private final WebApplicationContextRunner runner = StarterRunners.web()
		.withBean("plan", IdentifierResolver.class, () -> (request) -> "x")
		.withPropertyValues("ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.paths=/api/**");

	@Test
	void startFailsWhenBeanAndExpressionHaveOneName() {
		this.runner.withPropertyValues("ratelimit.identifiers.plan=#principal.name")
			.run((context) -> StartFailure.assertRefused(context, "ratelimit.identifiers.plan",
					"There is a bean of type IdentifierResolver with the name 'plan' as well: remove one of them."));
	}

	@ParameterizedTest
	@ValueSource(strings = { "user", "a b" })
	void startFailsWhenNameOfBeanIsTaken(String name) {
		this.runner.withBean(name, IdentifierResolver.class, () -> (request) -> "x")
			.run((context) -> assertThat(context).getFailure()
				.hasRootCauseInstanceOf(IllegalArgumentException.class)
				.hasStackTraceContaining(
						"Invalid bean '%s' of type IdentifierResolver: Invalid name of an identifier (%s): must be letters"
							.formatted(name, name)));
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.policies.api.when=#request.secure", "ratelimit.rejection.type=/problems/quota",
			"ratelimit.policies.api.unless=#request.getHeader('X')?.startsWith('a') or #request.serverPort > 9000",
			"ratelimit.policies.api.when=#request.getAttribute('x')", "ratelimit.policies.api.identifiers=ip+plan",
			"ratelimit.policies.api.missing-identifier=plan", "ratelimit.deny=plan:free",
			"ratelimit.ip.trusted-proxies=10.0.0.0/8;server.forward-headers-strategy=framework" })
	void startSucceedsWhenOptionsCanBe(String properties) {
		this.runner.withPropertyValues(properties.split(";")).run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.policies.api.identifiers", "ratelimit.defaults.identifiers" })
	void ownIdentifiersAreListedWhenIdentifierIsUnknown(String property) {
		this.runner.withPropertyValues("ratelimit.identifiers.tenant=#principal.claims['tenant']", property + "=tenent")
			.run((context) -> StartFailure.assertRefused(context, property, "tenent",
					"Invalid identifier (tenent): must be ip, user, header:NAME, cookie:NAME, query:NAME, path, method, global, plan, tenant, or several of them joined by '+'. Did you mean 'tenant'?"));
	}

	@ParameterizedTest
	@CsvSource({ "header:X Key:s3cr3t, header:X Key:***", "headr:X-Key:s3cr3t, headr:X-Key:***",
			"cookie::s3cr3t, cookie::***" })
	void secretOfEntryIsNotShown(String entry, String shown) {
		this.runner.withPropertyValues("ratelimit.allow=" + entry).run((context) -> {
			assertThat(StartFailure.refusal(context).getValue()).isEqualTo(shown);
			StringWriter trace = new StringWriter();
			context.getStartupFailure().printStackTrace(new PrintWriter(trace));
			assertThat(trace.toString()).doesNotContain("s3cr3t");
		});
	}

	@ParameterizedTest
	@ValueSource(classes = { OfPolicy.class, OfIdentifiedPolicy.class })
	void policyThatIsABeanStopsTheStart(Class<?> configuration, CapturedOutput output) {
		assertThatException()
			.isThrownBy(() -> StarterRunners.application(configuration).web(WebApplicationType.NONE).run());
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Invalid bean 'search' of type %s: it has no effect, because policies are not beans."
				.formatted(configuration.getSimpleName().substring(2)))
			.contains("Declare it in a RateLimitPoliciesCustomizer bean, below ratelimit.policies or in @RateLimited")
			.contains("PolicySource");
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
