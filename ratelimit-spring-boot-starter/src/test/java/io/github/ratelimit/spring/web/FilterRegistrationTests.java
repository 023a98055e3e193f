package io.github.ratelimit.spring.web;

import java.util.List;

import io.github.ratelimit.spring.StarterRunners;
import jakarta.servlet.DispatcherType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterProperties;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.security.web.FilterChainProxy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Where the filters of {@link RateLimitWebAutoConfiguration} stand, and what they serve.
 */
@ExtendWith(OutputCaptureExtension.class)
class FilterRegistrationTests {

	private final WebApplicationContextRunner runner = StarterRunners.web();

	@Test
	void filtersStandBeforeAndAfterSecurity() {
		this.runner.run((context) -> assertStandAround(context, SecurityFilterProperties.DEFAULT_FILTER_ORDER));
		this.runner.withPropertyValues("spring.security.filter.order=0")
			.run((context) -> assertStandAround(context, 0));
	}

	private static void assertStandAround(AssertableWebApplicationContext context, int order) {
		assertThat(filter(context, "rateLimitFilterBeforeSecurity").getOrder()).isLessThan(order);
		assertThat(filter(context, "rateLimitFilterAfterSecurity").getOrder()).isGreaterThan(order);
	}

	@Test
	void filtersStandWhereTheyAreConfigured() {
		this.runner
			.withPropertyValues("ratelimit.filter.before-login-order=-300", "ratelimit.filter.after-login-order=7")
			.run((context) -> {
				assertThat(filter(context, "rateLimitFilterBeforeSecurity").getOrder()).isEqualTo(-300);
				assertThat(filter(context, "rateLimitFilterAfterSecurity").getOrder()).isEqualTo(7);
			});
	}

	@ParameterizedTest
	@CsvSource({ "before-login-order, -90", "after-login-order, -110", "before-login-order, 5" })
	void startFailsWhenSecondFilterComesBeforeTheFirst(String property, String order) {
		this.runner.withPropertyValues("ratelimit.filter." + property + "=" + order)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(InvalidConfigurationPropertyValueException.class)
				.hasMessageContainingAll("ratelimit.filter." + property, order, "must be greater than"));
	}

	@Test
	void startFailsWhenSecondFilterKnowsNoUsers() {
		this.runner.withBean(FilterChainProxy.class)
			.withPropertyValues("ratelimit.filter.after-login-order=-105", "ratelimit.policies.api.limits=1/s",
					"ratelimit.policies.api.paths=/**", "ratelimit.policies.api.identifiers=user")
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidConfigurationPropertyValueException.class)
				.hasMessageContainingAll("ratelimit.filter.after-login-order", "-105",
						"spring.security.filter.order (-100)", "[api]"));
	}

	@ParameterizedTest
	@CsvSource({ "-100, true", "-95, true", "-101, false" })
	void failedLoginsThatAreNotCountedAreLogged(int order, boolean logged, CapturedOutput output) {
		this.runner.withBean(FilterChainProxy.class)
			.withPropertyValues("ratelimit.filter.before-login-order=" + order, "ratelimit.policies.api.limits=1/s",
					"ratelimit.policies.api.paths=/**")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output.toString()
			.contains(
					"Failed logins are not counted: ratelimit.filter.before-login-order (%d) is not less than spring.security.filter.order (-100)"
						.formatted(order)))
			.isEqualTo(logged);
	}

	@Test
	void startSucceedsWhenNoPolicyNeedsTheUser() {
		this.runner.withBean(FilterChainProxy.class)
			.withPropertyValues("ratelimit.filter.after-login-order=-105", "ratelimit.policies.api.limits=1/s",
					"ratelimit.policies.api.paths=/**")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void filtersServeAllDispatchesAndHaveDifferentNames() {
		this.runner.run((context) -> {
			for (String name : List.of("rateLimitFilterBeforeSecurity", "rateLimitFilterAfterSecurity")) {
				FilterRegistrationBean<?> filter = filter(context, name);
				assertThat(filter.determineDispatcherTypes()).containsExactlyInAnyOrder(DispatcherType.values());
				assertThat(filter.getFilterName()).isEqualTo(name);
				assertThat(filter.getFilter()).isInstanceOf(RateLimitFilter.class);
				assertThat(filter.getUrlPatterns()).isEmpty();
			}
		});
	}

	@Test
	void filtersAreDisabledWhenTheyHaveNoPolicy() {
		this.runner.withPropertyValues("ratelimit.policies.api.limits=1/s").run((context) -> {
			assertThat(filter(context, "rateLimitFilterBeforeSecurity").isEnabled()).isFalse();
			assertThat(filter(context, "rateLimitFilterAfterSecurity").isEnabled()).isFalse();
		});
	}

	private static FilterRegistrationBean<?> filter(AssertableWebApplicationContext context, String name) {
		return context.getBean(name, FilterRegistrationBean.class);
	}

}
