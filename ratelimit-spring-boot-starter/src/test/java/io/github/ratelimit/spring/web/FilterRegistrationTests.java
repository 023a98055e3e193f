package io.github.ratelimit.spring.web;

import java.util.List;

import io.github.ratelimit.spring.method.RateLimitMethodAutoConfiguration;
import io.github.ratelimit.spring.policy.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.redis.RateLimitRedisAutoConfiguration;
import jakarta.servlet.DispatcherType;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterProperties;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.servlet.FilterRegistrationBean;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Where the filters of {@link RateLimitWebAutoConfiguration} stand, and what they serve.
 */
class FilterRegistrationTests {

	private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, RateLimitAutoConfiguration.class,
				RateLimitRedisAutoConfiguration.class, RateLimitMethodAutoConfiguration.class,
				RateLimitWebAutoConfiguration.class));

	@Test
	void filtersStandBeforeAndAfterSecurity() {
		this.runner.run((context) -> {
			assertThat(filter(context, "rateLimitFilterBeforeSecurity").getOrder())
				.isLessThan(SecurityFilterProperties.DEFAULT_FILTER_ORDER);
			assertThat(filter(context, "rateLimitFilterAfterSecurity").getOrder())
				.isGreaterThan(SecurityFilterProperties.DEFAULT_FILTER_ORDER);
		});
	}

	@Test
	void filtersServeRequestsOnlyAndHaveNamesOfTheirOwn() {
		this.runner.run((context) -> {
			for (String name : List.of("rateLimitFilterBeforeSecurity", "rateLimitFilterAfterSecurity")) {
				FilterRegistrationBean<?> filter = filter(context, name);
				assertThat(filter.determineDispatcherTypes()).containsExactly(DispatcherType.REQUEST);
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

	@Test
	void policyStandsBeforeAndAfterSecurityWhateverItNeeds() {
		this.runner
			.withPropertyValues("ratelimit.policies.api.limits=1/s", "ratelimit.policies.api.paths=/**",
					"ratelimit.policies.api.identifiers=ip")
			.run((context) -> {
				assertThat(filter(context, "rateLimitFilterBeforeSecurity").isEnabled()).isTrue();
				assertThat(filter(context, "rateLimitFilterAfterSecurity").isEnabled()).isTrue();
			});
	}

	private static FilterRegistrationBean<?> filter(AssertableWebApplicationContext context, String name) {
		return context.getBean(name, FilterRegistrationBean.class);
	}

}
