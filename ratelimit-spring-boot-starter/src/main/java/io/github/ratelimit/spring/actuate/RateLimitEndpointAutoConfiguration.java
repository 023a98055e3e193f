package io.github.ratelimit.spring.actuate;

import java.util.function.UnaryOperator;

import io.github.ratelimit.BlockList;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.RequestHistory;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.actuate.CountsDescriptor.BlockDescriptor;
import io.github.ratelimit.spring.policy.AnnotatedPolicies;
import io.github.ratelimit.spring.policy.PolicyDecisions;
import io.github.ratelimit.spring.policy.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.policy.RateLimitProperties;
import io.github.ratelimit.spring.web.RequestIdentifiers;

import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.util.StringUtils;

/**
 * Auto-configuration of the actuator endpoint {@code ratelimits}.
 *
 * @since 0.1
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnClass({ WebEndpoint.class, ConditionalOnAvailableEndpoint.class })
@ConditionalOnBean(PolicyDecisions.class)
@ConditionalOnAvailableEndpoint(RateLimitsEndpoint.class)
@RegisterReflectionForBinding({ RateLimitsDescriptor.class, CountsDescriptor.class, BlockDescriptor.class,
		DeniedDescriptor.class })
public final class RateLimitEndpointAutoConfiguration {

	/**
	 * Hashes identifiers in the same way as the store if a secret is set.
	 */
	@Bean
	@ConditionalOnBooleanProperty(name = "ratelimit.most-denied.enabled", matchIfMissing = true)
	MostDenied rateLimitMostDenied(RateLimitProperties properties) {
		String secret = properties.identifierSecret();
		return new MostDenied(StringUtils.hasLength(secret)
				? (identifier) -> RedisRateLimiter.hashed(identifier, secret) : UnaryOperator.identity(),
				System::nanoTime);
	}

	@Bean
	@ConditionalOnMissingBean
	RateLimitsEndpoint rateLimitsEndpoint(RateLimiter limiter, ConfiguredPolicies policies, PolicyDecisions decisions,
			ObjectProvider<AnnotatedPolicies> annotated, ObjectProvider<BlockList> blocks,
			ObjectProvider<RequestHistory> history, ObjectProvider<DenialCache> denials,
			ObjectProvider<MostDenied> mostDenied, ObjectProvider<RequestIdentifiers> identifiers,
			RateLimitProperties properties) {
		DenialCache cache = denials.getIfAvailable();
		BlockList list = blocks.getIfAvailable();
		RequestIdentifiers web = identifiers.getIfAvailable();
		return new RateLimitsEndpoint((cache != null) ? cache.watchCounts(limiter) : limiter, policies,
				() -> annotated.stream().flatMap((each) -> each.annotatedPolicies().stream()).toList(),
				decisions::current, (web != null) ? web::counted : UnaryOperator.identity(),
				(cache != null && list != null) ? cache.watchBlocks(list) : list, history.getIfAvailable(),
				mostDenied.getIfAvailable(), StringUtils.hasLength(properties.identifierSecret()));
	}

}
