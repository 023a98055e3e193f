package io.github.ratelimit.spring.actuate;

import java.util.function.UnaryOperator;

import io.github.ratelimit.BlockList;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.RequestHistory;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.spring.actuate.RateLimitsDescriptor.BlockDescriptor;
import io.github.ratelimit.spring.actuate.RateLimitsDescriptor.CountsDescriptor;
import io.github.ratelimit.spring.config.AnnotatedPolicies;
import io.github.ratelimit.spring.config.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.config.RateLimitProperties;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.web.identify.RequestIdentifiers;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;

import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.StringUtils;

/**
 * Auto-configuration of metrics, observations, the health contributor {@code ratelimit}
 * and the endpoint {@code ratelimits}, each if what it needs is there.
 *
 * @since 0.1
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class, afterName = {
		"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
		"org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration",
		"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration" })
@ConditionalOnBean(Decider.class)
public final class RateLimitActuatorAutoConfiguration {

	@Bean
	KnownPolicies rateLimitKnownPolicies(ConfiguredPolicies policies, Decider decider,
			ObjectProvider<AnnotatedPolicies> annotated) {
		return new KnownPolicies(policies, annotated, decider);
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(MeterRegistry.class)
	@ConditionalOnBean(MeterRegistry.class)
	static class MetricsConfiguration {

		@Bean
		RateLimitMetrics rateLimitMetrics(MeterRegistry registry) {
			return new RateLimitMetrics(registry);
		}

		/**
		 * Runs once all beans are created, because only then all annotations are known.
		 */
		@Bean
		SmartInitializingSingleton rateLimitMetersRegistration(RateLimitMetrics metrics, Decider decider,
				KnownPolicies policies) {
			return () -> {
				metrics.register(decider.outage());
				policies.all().values().forEach(metrics::register);
			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ObservationRegistry.class)
	@ConditionalOnBean(ObservationRegistry.class)
	static class ObservationConfiguration {

		@Bean
		StoreObservation rateLimitStoreObservation(ObservationRegistry registry) {
			return new StoreObservation(registry);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class })
	@ConditionalOnEnabledHealthIndicator("ratelimit")
	static class HealthConfiguration {

		@Bean
		@ConditionalOnMissingBean(name = { "ratelimitHealthIndicator", "ratelimitHealthContributor" })
		RateLimitHealthIndicator ratelimitHealthIndicator(RateLimiter store, Decider decider, KnownPolicies policies,
				RateLimitProperties properties) {
			return new RateLimitHealthIndicator(store, decider.outage(), policies,
					properties.health().downWhenFailing());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ WebEndpoint.class, ConditionalOnAvailableEndpoint.class })
	@ConditionalOnAvailableEndpoint(RateLimitsEndpoint.class)
	@RegisterReflectionForBinding({ RateLimitsDescriptor.class, CountsDescriptor.class, BlockDescriptor.class,
			MostDenied.Denied.class })
	static class EndpointConfiguration {

		@Bean
		@ConditionalOnBooleanProperty(name = "ratelimit.most-denied.enabled", matchIfMissing = true)
		MostDenied rateLimitMostDenied(RateLimitProperties properties) {
			return new MostDenied(properties.shown(), System::nanoTime);
		}

		/** What is blocked and unblocked is forgotten by this instance as well. */
		@Bean
		@ConditionalOnMissingBean
		RateLimitsEndpoint rateLimitsEndpoint(RateLimiter limiter, KnownPolicies policies, Decider decider,
				ObjectProvider<BlockList> blocks, ObjectProvider<RequestHistory> history,
				ObjectProvider<DenialCache> denials, ObjectProvider<MostDenied> mostDenied,
				ObjectProvider<RequestIdentifiers> identifiers, RateLimitProperties properties) {
			DenialCache cache = denials.getIfAvailable();
			BlockList list = blocks.getIfAvailable();
			if (list != null) {
				list = decider.leases().watchBlocks(list);
				list = (cache != null) ? cache.watchBlocks(list) : list;
			}
			RequestIdentifiers web = identifiers.getIfAvailable();
			return new RateLimitsEndpoint(limiter, policies, (web != null) ? web::counted : UnaryOperator.identity(),
					list, history.getIfAvailable(), mostDenied.getIfAvailable(),
					StringUtils.hasLength(properties.identifierSecret()));
		}

	}

}
