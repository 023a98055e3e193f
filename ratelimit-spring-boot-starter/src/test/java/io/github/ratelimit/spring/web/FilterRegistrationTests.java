package io.github.ratelimit.spring.web;

import io.github.ratelimit.spring.StarterRunners;
import jakarta.servlet.DispatcherType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.security.web.FilterChainProxy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Where the filters of {@link RateLimitWebAutoConfiguration} stand, and what they serve.
 */
class FilterRegistrationTests {

	private final WebApplicationContextRunner runner = StarterRunners.web();

	@ParameterizedTest
	@CsvSource({ "a, b, -110, -90", "spring.security.filter.order, 0, -10, 10",
			"ratelimit.filter.before-login-order, -300, -300, -90", "ratelimit.filter.after-login-order, 7, -110, 7" })
	void filtersStandAroundSecurityOrAsConfigured(String property, String value, int before, int after) {
		this.runner.withPropertyValues(property + "=" + value).run((context) -> {
			assertThat(filter(context, "rateLimitFilterBeforeSecurity").getOrder()).isEqualTo(before);
			assertThat(filter(context, "rateLimitFilterAfterSecurity").getOrder()).isEqualTo(after);
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
		this.runner.withPropertyValues("ratelimit.filter.after-login-order=-105")
			.run((context) -> assertThat(context).hasNotFailed());
		this.runner.withBean(FilterChainProxy.class)
			.withPropertyValues("ratelimit.filter.after-login-order=-105")
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidConfigurationPropertyValueException.class)
				.hasMessageContainingAll("ratelimit.filter.after-login-order", "-105",
						"spring.security.filter.order (-100)"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "rateLimitFilterBeforeSecurity", "rateLimitFilterAfterSecurity" })
	void filtersServeAllDispatchesIfThereIsAPolicy(String name) {
		WebApplicationContextRunner policy = this.runner.withPropertyValues("ratelimit.policies.api.limits=1/s");
		policy.run((context) -> assertThat(filter(context, name).isEnabled()).isFalse());
		policy.withPropertyValues("ratelimit.policies.api.paths=/api").run((context) -> {
			FilterRegistrationBean<?> filter = filter(context, name);
			assertThat(filter.isEnabled()).isTrue();
			assertThat(filter.determineDispatcherTypes()).containsExactlyInAnyOrder(DispatcherType.values());
			assertThat(filter.getFilterName()).isEqualTo(name);
			assertThat(filter.getUrlPatterns()).isEmpty();
		});
	}

	private static FilterRegistrationBean<?> filter(AssertableWebApplicationContext context, String name) {
		return context.getBean(name, FilterRegistrationBean.class);
	}

}
