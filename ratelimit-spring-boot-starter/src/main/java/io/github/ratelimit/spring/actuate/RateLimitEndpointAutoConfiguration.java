package io.github.ratelimit.spring.actuate;

import java.util.function.UnaryOperator;

import io.github.ratelimit.BlockList;
import io.github.ratelimit.DelegatingRateLimiter;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
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
import org.jspecify.annotations.Nullable;

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
		RateLimiter watched = watched(limiter, decisions);
		return new RateLimitsEndpoint((cache != null) ? cache.watchCounts(watched) : watched, policies,
				() -> AnnotatedPolicies.byPlace(annotated), decisions::current,
				(web != null) ? web::counted : UnaryOperator.identity(),
				(list != null) ? watched(list, cache, decisions) : null, history.getIfAvailable(),
				mostDenied.getIfAvailable(), StringUtils.hasLength(properties.identifierSecret()));
	}

	private static RateLimiter watched(RateLimiter limiter, PolicyDecisions decisions) {
		return new DelegatingRateLimiter(limiter) {

			@Override
			public void reset(Policy policy, Identifier identifier) {
				try {
					super.reset(policy, identifier);
				}
				finally {
					decisions.leases().forget(policy, identifier);
				}
			}

		};
	}

	private static BlockList watched(BlockList blocks, @Nullable DenialCache cache, PolicyDecisions decisions) {
		BlockList watched = decisions.leases().watchBlocks(blocks);
		return (cache != null) ? cache.watchBlocks(watched) : watched;
	}

}
