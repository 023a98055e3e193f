package io.github.ratelimit.spring.actuate;

import io.github.ratelimit.BlockList;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.RequestHistory;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.AnnotatedPolicies;
import io.github.ratelimit.spring.policy.PolicyDecisions;
import io.github.ratelimit.spring.policy.RateLimitAutoConfiguration;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the actuator endpoint {@code ratelimits}.
 *
 * @since 0.1
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnClass({ WebEndpoint.class, ConditionalOnAvailableEndpoint.class })
@ConditionalOnBean(PolicyDecisions.class)
@ConditionalOnAvailableEndpoint(RateLimitsEndpoint.class)
public final class RateLimitEndpointAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	RateLimitsEndpoint rateLimitsEndpoint(RateLimiter limiter, ConfiguredPolicies policies, PolicyDecisions decisions,
			ObjectProvider<AnnotatedPolicies> annotated, ObjectProvider<BlockList> blocks,
			ObjectProvider<RequestHistory> history, ObjectProvider<DenialCache> denials) {
		DenialCache cache = denials.getIfAvailable();
		BlockList list = blocks.getIfAvailable();
		return new RateLimitsEndpoint((cache != null) ? cache.watchCounts(limiter) : limiter, policies,
				() -> annotated.stream().flatMap((each) -> each.annotatedPolicies().stream()).toList(),
				decisions::current, (cache != null && list != null) ? cache.watchBlocks(list) : list,
				history.getIfAvailable());
	}

}
