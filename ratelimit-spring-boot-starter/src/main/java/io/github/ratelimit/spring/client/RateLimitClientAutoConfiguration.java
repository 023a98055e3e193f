package io.github.ratelimit.spring.client;

import java.time.Duration;
import java.util.function.Function;

import io.github.ratelimit.BlockList;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.waiting.WaitingRateLimiter.Time;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.OutgoingRateLimits;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.config.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.decide.PolicyEnforcer;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.util.function.SingletonSupplier;

/**
 * Auto-configuration of limits of calls to other services.
 *
 * @since 0.1
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnClass(ClientHttpRequestInterceptor.class)
public final class RateLimitClientAutoConfiguration {

	/**
	 * Gets the limiter lazily, so that only beans of the application have it injected.
	 */
	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnBooleanProperty(name = "ratelimit.enabled", matchIfMissing = true)
	OutgoingRateLimits rateLimitOutgoing(ConfiguredPolicies policies, Decider decider,
			ObjectProvider<PolicyLimiter> limiters, ObjectProvider<PolicyEnforcer> enforcer, RateLimiter store,
			ObjectProvider<Time> times) {
		Time time = times.getIfAvailable(() -> Time.SYSTEM);
		BlockList blocks = (store instanceof BlockList list) ? decider.leases().watchBlocks(list) : null;
		return new PolicyOutgoingLimits(policies, decider, limiters.getObject(),
				SingletonSupplier.of(enforcer::getObject),
				new RequestedWaits(blocks, !(store instanceof MemoryRateLimiter), time::nanoTime), time);
	}

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnBooleanProperty(name = "ratelimit.enabled", havingValue = false)
	OutgoingRateLimits rateLimitOutgoingUnlimited() {
		return new OutgoingRateLimits() {

			@Override
			public ClientHttpRequestInterceptor interceptor(String policy, Duration maxWait) {
				return (request, body, execution) -> execution.execute(request, body);
			}

			@Override
			public ClientHttpRequestInterceptor interceptor(String policy, Function<HttpRequest, Identifier> identifier,
					Duration maxWait) {
				return interceptor(policy);
			}

		};
	}

}
