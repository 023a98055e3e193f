package io.github.ratelimit.spring.web;

import io.github.ratelimit.spring.StarterRunners;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
 * Policies that limit probes of the health of an application.
 */
@ExtendWith(OutputCaptureExtension.class)
class LimitedProbesTests {

	private static final String WARNING = "Policies limit probes of the application's health";

	private final WebApplicationContextRunner runner = StarterRunners.web()
		.withConfiguration(AutoConfigurations.of(EndpointAutoConfiguration.class, WebEndpointAutoConfiguration.class,
				HealthContributorAutoConfiguration.class, HealthContributorRegistryAutoConfiguration.class,
				HealthEndpointAutoConfiguration.class, AvailabilityProbesAutoConfiguration.class,
				ApplicationAvailabilityAutoConfiguration.class))
		.withPropertyValues("ratelimit.policies.all.limits=5/m");

	@Test
	void warningNamesPolicyPathsAndRemedies(CapturedOutput output) {
		start("paths=/**");
		assertThat(output).containsOnlyOnce(WARNING)
			.contains("{all=[/actuator/health, /actuator/health/liveness, /actuator/health/readiness]}")
			.containsOnlyOnce("ratelimit.exclude")
			.containsOnlyOnce("management.server.port");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					paths=GET /actuator/**                                         | true
					paths=/*/health/liveness                                       | true
					paths=/manage/**;management.endpoints.web.base-path=/manage    | true
					paths=/**;ratelimit.exclude=/actuator/health                   | true
					paths=/livez;management.server.port=9000;management.endpoint.health.probes.add-additional-paths=true | true
					paths=/api/**                                                  | false
					paths=POST /**                                                 | false
					paths=/**;ratelimit.exclude=/actuator/health/**                | false
					paths=/**;ratelimit.policies.all.exclude=/actuator/**          | false
					paths=/**;management.server.port=9000                          | false
					paths=/**;management.server.port=-1                            | false
					paths=/**;management.endpoints.web.exposure.exclude=health     | false
					paths=/**;ratelimit.policies.all.mode=shadow                   | false
					paths=/**;ratelimit.policies.all.routes[0].paths=/actuator/**;ratelimit.policies.all.routes[0].cost=0 | false
					""")
	void probesThatMayBeDeniedAreLogged(String properties, boolean logged, CapturedOutput output) {
		start(properties);
		assertThat(output.toString().contains(WARNING)).isEqualTo(logged);
	}

	private void start(String properties) {
		this.runner.withPropertyValues(("ratelimit.policies.all." + properties).split(";"))
			.run((context) -> assertThat(context).hasNotFailed());
	}

}
