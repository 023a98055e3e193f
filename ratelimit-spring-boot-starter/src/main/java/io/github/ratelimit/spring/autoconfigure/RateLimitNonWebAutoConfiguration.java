package io.github.ratelimit.spring.autoconfigure;

import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.PolicyDecisions;
import io.github.ratelimit.spring.PolicyEnforcer;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of rate limiting for applications that are no Servlet applications:
 * methods are limited, paths cannot be.
 *
 * @since 0.1
 */
@AutoConfiguration(after = { RateLimitAutoConfiguration.class, RateLimitWebAutoConfiguration.class })
@ConditionalOnBooleanProperty(name = "ratelimit.enabled", matchIfMissing = true)
@ConditionalOnMissingBean(PolicyEnforcer.class)
public final class RateLimitNonWebAutoConfiguration {

	@Bean
	PolicyEnforcer rateLimitPolicyEnforcer(PolicyDecisions decisions, RateLimitProperties properties,
			ConfiguredPolicies policies) {
		new PlanReader(properties, policies).requireNone();
		properties.policies().forEach((name, policy) -> {
			if (!policy.paths().isEmpty() || !policy.routes().isEmpty()) {
				throw new InvalidConfigurationPropertyValueException(
						PolicyReader.property(name, policy.paths().isEmpty() ? ".routes" : ".paths"),
						policy.paths().isEmpty() ? policy.routes() : policy.paths(),
						"Paths can be limited only in a Servlet web application.");
			}
			if (policy.countWhen() != null) {
				throw new InvalidConfigurationPropertyValueException(PolicyReader.property(name, ".count-when"),
						policy.countWhen(), "There are responses only in a Servlet web application.");
			}
		});
		return PolicyEnforcer.withoutRequests(decisions);
	}

}
