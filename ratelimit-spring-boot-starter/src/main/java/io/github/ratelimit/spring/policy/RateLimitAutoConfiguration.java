package io.github.ratelimit.spring.policy;

import java.util.stream.Stream;

import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.DecisionListener;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.InstanceCount;
import io.github.ratelimit.spring.OutgoingRateLimits;
import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.RateLimiterDecorator;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AbstractDependsOnBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.DependsOn;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.util.function.SingletonSupplier;

/**
 * Auto-configuration of policies and decisions.
 *
 * @since 0.1
 */
@AutoConfiguration
@ConditionalOnBooleanProperty(name = "ratelimit.enabled", matchIfMissing = true)
@ImportRuntimeHints(RateLimitRuntimeHints.class)
@EnableConfigurationProperties(RateLimitProperties.class)
public final class RateLimitAutoConfiguration {

	@Bean
	static PolicyNames rateLimitPolicyNames() {
		return new PolicyNames();
	}

	@Bean
	static UnresolvedPlaceholders rateLimitUnresolvedPlaceholders(Environment environment) {
		return new UnresolvedPlaceholders(environment);
	}

	@Bean
	static DeclaredPolicies rateLimitDeclaredPolicies(ConfigurableListableBeanFactory beans,
			ConfigurableEnvironment environment) {
		return new DeclaredPolicies(beans, environment);
	}

	/** The properties are bound when the policies of beans are among them. */
	@Bean
	static DeclaredPoliciesFirst rateLimitDeclaredPoliciesFirst() {
		return new DeclaredPoliciesFirst();
	}

	@Bean
	EnvironmentSettings rateLimitEnvironmentSettings(Environment environment) {
		return new EnvironmentSettings(environment);
	}

	/**
	 * Checks for misspelt settings first, which would otherwise be reported as missing.
	 */
	@Bean
	@DependsOn("rateLimitEnvironmentSettings")
	@ConditionalOnMissingBean
	ConfiguredPolicies rateLimitPolicies(RateLimitProperties properties, Environment environment,
			NamedAlgorithms algorithms, ListableBeanFactory beans) {
		requireNoBeans(beans, Policy.class);
		requireNoBeans(beans, IdentifiedPolicy.class);
		return new PolicyReader(properties, environment).readPolicies(algorithms);
	}

	/** Refuses policies that would have no effect. */
	private static void requireNoBeans(ListableBeanFactory beans, Class<?> type) {
		for (String name : beans.getBeanNamesForType(type, true, false)) {
			throw new InvalidBeanException(name, type, "it has no effect, because policies are not beans.",
					"Declare it in a RateLimitPoliciesCustomizer bean, below ratelimit.policies or in @RateLimited; a PolicySource bean can change it at runtime. A policy for a RateLimiter that you call yourself need not be a bean.",
					null);
		}
	}

	@Bean
	NamedAlgorithms rateLimitAlgorithms(ApplicationContext context, DeclaredPolicies declared) {
		return new NamedAlgorithms(context, declared);
	}

	@Bean
	PolicyTable rateLimitPolicyTable(RateLimitProperties properties, ConfiguredPolicies policies,
			ObjectProvider<AnnotatedPolicies> annotated, ConfigurableListableBeanFactory beans) {
		return new PolicyTable(properties, policies, annotated,
				() -> isInjected(PolicyLimiter.class, beans) || isInjected(OutgoingRateLimits.class, beans));
	}

	private static boolean isInjected(Class<?> type, ConfigurableListableBeanFactory beans) {
		return Stream.of(beans.getBeanNamesForType(type, true, false))
			.anyMatch((name) -> beans.getDependentBeans(name).length > 0);
	}

	@Bean
	RefreshedPolicies rateLimitRefreshedPolicies(RateLimitProperties properties, ConfiguredPolicies policies,
			Environment environment, NamedAlgorithms algorithms, RateLimiter limiter, ListableBeanFactory beans) {
		return new RefreshedPolicies(properties, policies, environment, algorithms, limiter,
				() -> properties.plan() != null
						|| beans.getBeanNamesForType(PlanResolver.class, true, false).length > 0);
	}

	@Bean
	@ConditionalOnMissingBean
	PolicyDecisions rateLimitDecisions(RateLimiter limiter, ObjectProvider<RateLimiterDecorator> decorators,
			ObjectProvider<DecisionListener> listeners, ObjectProvider<PolicySource> sources, OutageHandling outages,
			ObjectProvider<DenialCache> denials) {
		RateLimiter decorated = limiter;
		for (RateLimiterDecorator decorator : decorators.orderedStream().toList()) {
			decorated = decorator.decorate(decorated);
		}
		return new PolicyDecisions(decorated, listeners.orderedStream().toList(),
				() -> sources.orderedStream().toList(), outages, denials.getIfAvailable());
	}

	@Bean
	@ConditionalOnMissingBean
	PolicyLimiter rateLimitPolicyLimiter(ConfiguredPolicies policies, PolicyDecisions decisions,
			ObjectProvider<PolicyEnforcer> enforcer) {
		return new ConfiguredPolicyLimiter(policies, decisions, SingletonSupplier.of(enforcer::getObject));
	}

	@Bean
	@ConditionalOnMissingBean
	OutageHandling rateLimitOutageHandling(InstanceCount instances) {
		return OutageHandling.ofRedis(instances);
	}

	@Bean
	@ConditionalOnMissingBean
	InstanceCount rateLimitInstanceCount(RateLimitProperties properties) {
		int instances = properties.instances();
		if (instances < 1) {
			throw new InvalidConfigurationPropertyValueException("ratelimit.instances", instances,
					"Must be at least 1.");
		}
		return () -> instances;
	}

	/**
	 * Refuses policies that the store does not support, before the first request.
	 */
	@Bean
	SmartInitializingSingleton rateLimitPolicyCheck(RateLimiter limiter, RateLimitProperties properties,
			ConfiguredPolicies policies, Environment environment) {
		return () -> new PolicyReader(properties, environment).requireSupported(policies, limiter);
	}

	/**
	 * Runs after the check of all beans, which also finds annotations of lazy beans.
	 */
	@Bean
	MissingIdentifierCheck rateLimitMissingIdentifierCheck(RateLimitProperties properties, ConfiguredPolicies policies,
			AnnotatedPolicies annotated) {
		return new MissingIdentifierCheck(properties, policies, annotated);
	}

	static final class DeclaredPoliciesFirst extends AbstractDependsOnBeanFactoryPostProcessor {

		DeclaredPoliciesFirst() {
			super(RateLimitProperties.class, DeclaredPolicies.class);
		}

	}

}
