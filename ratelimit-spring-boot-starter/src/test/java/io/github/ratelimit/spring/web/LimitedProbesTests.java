package io.github.ratelimit.spring.web;

import io.github.ratelimit.spring.RateLimitExemption;
import io.github.ratelimit.spring.StarterRunners;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.availability.ApplicationAvailabilityAutoConfiguration;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.AvailabilityProbesAutoConfiguration;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.HealthEndpointAutoConfiguration;
import org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RateLimitProbesAutoConfiguration}.
 */
@ExtendWith(OutputCaptureExtension.class)
class LimitedProbesTests {

	private static final String WARNING = "so that probes of the application's health may be denied";

	private final WebApplicationContextRunner runner = StarterRunners.web()
		.withConfiguration(
				AutoConfigurations.of(RateLimitProbesAutoConfiguration.class, EndpointAutoConfiguration.class,
						WebEndpointAutoConfiguration.class, HealthContributorAutoConfiguration.class,
						HealthContributorRegistryAutoConfiguration.class, HealthEndpointAutoConfiguration.class,
						AvailabilityProbesAutoConfiguration.class, ApplicationAvailabilityAutoConfiguration.class))
		.withPropertyValues("ratelimit.policies.all.limits=5/m");

	@Test
	void warningNamesPolicyPathsAndRemedies(CapturedOutput output) {
		start("paths=/**");
		assertThat(output).containsOnlyOnce(
				"The policies [all] limit [/actuator/health, /actuator/health/liveness, /actuator/health/readiness], "
						+ WARNING)
			.containsOnlyOnce("ratelimit.exclude")
			.containsOnlyOnce("management.server.port");
	}

	@ParameterizedTest
	@ValueSource(strings = { "paths=GET /actuator/**", "paths=/*/health/liveness",
			"paths=/manage/**;management.endpoints.web.base-path=/manage", "paths=/app/**;spring.mvc.servlet.path=/app",
			"paths=/**;ratelimit.exclude=/actuator/health",
			"paths=/**;ratelimit.policies.all.identifiers=header:X-User",
			"paths=/**;ratelimit.policies.all.identifiers=header:X-User,ip;ratelimit.policies.all.missing-identifier=skip",
			"paths=/**;ratelimit.allow=user:admin", "paths=/**;ratelimit.deny=ip:10.0.0.1",
			"paths=/livez;management.server.port=9000;management.endpoint.health.probes.add-additional-paths=true" })
	void probesThatMayBeDeniedAreLogged(String properties, CapturedOutput output) {
		start(properties);
		assertThat(output).containsOnlyOnce(WARNING);
	}

	@ParameterizedTest
	@ValueSource(strings = { "paths=/api/**", "paths=POST /**", "paths=/**;ratelimit.exclude=/actuator/health/**",
			"paths=/**;ratelimit.policies.all.exclude=/actuator/**", "paths=/**;management.server.port=9000",
			"paths=/**;management.server.port=-1", "paths=/**;management.endpoints.web.exposure.exclude=health",
			"paths=/**;ratelimit.policies.all.mode=shadow", "paths=/**;ratelimit.allow=ip:10.0.0.0/8",
			"paths=/**;ratelimit.policies.all.unless=#request.getHeader('X-Probe') == 'yes'",
			"paths=/**;ratelimit.policies.all.when=#query['a'] == 'b'",
			"paths=/**;ratelimit.policies.all.identifiers=header:X-User,ip+cookie:a;ratelimit.policies.all.missing-identifier=skip",
			"paths=/**;ratelimit.policies.all.routes[0].paths=/actuator/**;ratelimit.policies.all.routes[0].cost=0" })
	void nothingIsLoggedWhenNoProbeIsDenied(String properties, CapturedOutput output) {
		start(properties);
		assertThat(output).doesNotContain(WARNING);
	}

	@Test
	void nothingIsLoggedWhenBeanMayExemptProbes(CapturedOutput output) {
		this.runner.withBean(RateLimitExemption.class, () -> (request) -> false)
			.withPropertyValues("ratelimit.policies.all.paths=/**")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain(WARNING);
	}

	private void start(String properties) {
		this.runner.withPropertyValues(("ratelimit.policies.all." + properties).split(";"))
			.run((context) -> assertThat(context).hasNotFailed());
	}

}
