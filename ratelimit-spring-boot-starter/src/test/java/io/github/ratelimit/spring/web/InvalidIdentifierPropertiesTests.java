package io.github.ratelimit.spring.web;

import java.io.PrintWriter;
import java.io.StringWriter;

import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.StartFailure;
import io.github.ratelimit.spring.StarterRunners;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Identifiers, proxies and lists of clients that cannot be stop the start, with the name
 * of the property, its value and the rule.
 */
@ExtendWith(OutputCaptureExtension.class)
class InvalidIdentifierPropertiesTests {

	private final WebApplicationContextRunner runner = StarterRunners.web();

	@Test
	void startFailsWhenBeanAndExpressionHaveOneName() {
		this.runner.withBean("tenant", IdentifierResolver.class, () -> (request) -> "x")
			.withPropertyValues("ratelimit.identifiers.tenant=#principal.name")
			.run((context) -> StartFailure.assertRefused(context, "ratelimit.identifiers.tenant",
					"There is a bean of type IdentifierResolver with the name 'tenant' as well: remove one of them."));
	}

	@ParameterizedTest
	@ValueSource(strings = { "user", "a b" })
	void startFailsWhenNameOfBeanIsTaken(String name) {
		this.runner.withBean(name, IdentifierResolver.class, () -> (request) -> "x")
			.run((context) -> assertThat(context).getFailure()
				.hasRootCauseInstanceOf(IllegalArgumentException.class)
				.satisfies((failure) -> assertThat(trace(failure)).contains(
						"Invalid bean '%s' of type IdentifierResolver: Invalid name of an identifier (%s): must be letters"
							.formatted(name, name))));
	}

	@Test
	void ownIdentifiersAreKnown() {
		this.runner.withBean("plan", IdentifierResolver.class, () -> (request) -> "x")
			.withPropertyValues("ratelimit.identifiers.tenant=#principal.claims['tenant']",
					"ratelimit.policies.api.limits=1/s", "ratelimit.policies.api.paths=/**",
					"ratelimit.policies.api.identifiers=tenant,ip+plan",
					"ratelimit.policies.api.missing-identifier=plan", "ratelimit.deny=tenant:acme,plan:free")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.policies.api.identifiers", "ratelimit.defaults.identifiers" })
	void ownIdentifiersAreListedWhenIdentifierIsUnknown(String property) {
		this.runner.withBean("plan", IdentifierResolver.class, () -> (request) -> "x")
			.withPropertyValues("ratelimit.identifiers.tenant=#principal.claims['tenant']",
					"ratelimit.policies.api.limits=10/s", property + "=tenent")
			.run((context) -> StartFailure.assertRefused(context, property, "tenent",
					"Invalid identifier (tenent): must be ip, user, header:NAME, cookie:NAME, query:NAME, path, method, global, plan, tenant, or several of them joined by '+'. Did you mean 'tenant'?"));
	}

	@Test
	void proxiesMayBeNamedBesideFilterOfForwardedHeaders() {
		this.runner
			.withPropertyValues("ratelimit.ip.trusted-proxies=10.0.0.0/8", "server.forward-headers-strategy=framework")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	/** As in tests without a container. */
	@Test
	void policyMayCountUsersOnlyWhenFiltersAreUnknown() {
		this.runner
			.withPropertyValues("ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.paths=/**",
					"ratelimit.policies.api.identifiers=user", "ratelimit.policies.api.missing-identifier=skip")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@CsvSource({ "header:X Key:s3cr3t, header:X Key:***", "headr:X-Key:s3cr3t, headr:X-Key:***",
			"cookie::s3cr3t, cookie::***" })
	void secretOfEntryIsNotShown(String entry, String shown) {
		this.runner.withPropertyValues("ratelimit.allow=" + entry).run((context) -> {
			assertThat(StartFailure.refusal(context).getValue()).isEqualTo(shown);
			assertThat(trace(context.getStartupFailure())).doesNotContain("s3cr3t");
		});
	}

	private static String trace(Throwable failure) {
		StringWriter trace = new StringWriter();
		failure.printStackTrace(new PrintWriter(trace));
		return trace.toString();
	}

}
