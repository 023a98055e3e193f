package io.github.ratelimit.spring.actuate;

import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.AnnotatedPolicies;
import io.github.ratelimit.spring.policy.PolicyDecisions;
import io.github.ratelimit.spring.policy.RateLimitAutoConfiguration;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of metrics.
 *
 * @since 0.1
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class, afterName = {
		"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
		"org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration" })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean({ MeterRegistry.class, PolicyDecisions.class })
public final class RateLimitMetricsAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	DecisionMetrics rateLimitDecisionMetrics(MeterRegistry registry) {
		return new DecisionMetrics(registry);
	}

	@Bean
	@ConditionalOnMissingBean
	StoreErrorMetrics rateLimitStoreErrorMetrics(MeterRegistry registry) {
		return new StoreErrorMetrics(registry);
	}

	@Bean
	@ConditionalOnMissingBean
	PenaltyMetrics rateLimitPenaltyMetrics(MeterRegistry registry) {
		return new PenaltyMetrics(registry);
	}

	@Bean
	@ConditionalOnMissingBean
	RedisMetrics rateLimitRedisMetrics(MeterRegistry registry) {
		return new RedisMetrics(registry);
	}

	/**
	 * Runs once all beans are created, because only then all annotations are known.
	 */
	@Bean
	SmartInitializingSingleton rateLimitMetersRegistration(MeterRegistry registry, DecisionMetrics metrics,
			PenaltyMetrics penalties, PolicyDecisions decisions, ConfiguredPolicies policies,
			ObjectProvider<AnnotatedPolicies> annotated) {
		return () -> {
			Gauge
				.builder("ratelimit.store.failing", decisions,
						(state) -> state.outage().failingSince().isPresent() ? 1 : 0)
				.description("1 while the store fails and the on-store-failure of each policy applies, else 0")
				.register(registry);
			Gauge.builder("ratelimit.breaker.open", decisions, (state) -> state.outage().isUnanswered() ? 1 : 0)
				.description("1 while the store does not answer, else 0")
				.register(registry);
			FunctionCounter.builder("ratelimit.store.busy", decisions, (state) -> state.outage().busyCount())
				.description("Requests that were limited in memory because the store was too busy to answer in time")
				.register(registry);
			policies.policies().values().forEach(metrics::register);
			policies.policies().values().forEach(penalties::register);
			AnnotatedPolicies.byPlace(annotated).values().forEach((found) -> found.forEach(metrics::register));
		};
	}

}
