package io.github.ratelimit.spring.actuate;

import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.AnnotatedPolicies;
import io.github.ratelimit.spring.policy.PolicyDecisions;
import io.github.ratelimit.spring.policy.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.policy.RateLimitProperties;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the health contributor {@code ratelimit}.
 *
 * @since 0.1
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnClass({ HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class })
@ConditionalOnBean(PolicyDecisions.class)
@ConditionalOnEnabledHealthIndicator("ratelimit")
public final class RateLimitHealthAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean(name = { "ratelimitHealthIndicator", "ratelimitHealthContributor" })
	RateLimitHealthIndicator ratelimitHealthIndicator(RateLimiter store, PolicyDecisions decisions,
			ConfiguredPolicies policies, RateLimitProperties properties, ObjectProvider<AnnotatedPolicies> annotated) {
		return new RateLimitHealthIndicator(store, decisions, policies, () -> AnnotatedPolicies.byPlace(annotated),
				properties.health().downWhenFailing());
	}

}
