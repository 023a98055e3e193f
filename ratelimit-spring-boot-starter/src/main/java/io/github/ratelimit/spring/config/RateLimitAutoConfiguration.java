package io.github.ratelimit.spring.config;

import java.time.Duration;
import java.util.stream.Stream;

import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.spring.DecisionListener;
import io.github.ratelimit.spring.InstanceCount;
import io.github.ratelimit.spring.OutgoingRateLimits;
import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.RateLimiterDecorator;
import io.github.ratelimit.spring.decide.ConfiguredPolicyLimiter;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.decide.ListedPlans;
import io.github.ratelimit.spring.decide.PolicyEnforcer;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.waiting.WaitingRateLimiter.Time;

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
	static DeclaredPolicies rateLimitDeclaredPolicies(ConfigurableListableBeanFactory beans,
			ConfigurableEnvironment environment) {
		return new DeclaredPolicies(beans, environment);
	}

	@Bean
	static SettingsBinding rateLimitSettingsBinding(ConfigurableEnvironment environment) {
		return new SettingsBinding(environment);
	}

	/** The properties are bound when the policies of beans can be among them. */
	@Bean
	static DeclaredPoliciesFirst rateLimitDeclaredPoliciesFirst() {
		return new DeclaredPoliciesFirst();
	}

	@Bean
	@ConditionalOnMissingBean
	ConfiguredPolicies rateLimitPolicies(RateLimitProperties properties, NamedAlgorithms algorithms,
			ListableBeanFactory beans) {
		requireNoBeans(beans, Policy.class);
		requireNoBeans(beans, IdentifiedPolicy.class);
		PolicyReader reader = new PolicyReader(properties.policies(), properties.defaults());
		return reader.readPolicies(algorithms, reader.readDefaults(algorithms));
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
				() -> Stream.of(PolicyLimiter.class, OutgoingRateLimits.class)
					.filter((type) -> isInjected(type, beans))
					.map(Class::getSimpleName)
					.toList());
	}

	private static boolean isInjected(Class<?> type, ConfigurableListableBeanFactory beans) {
		return Stream.of(beans.getBeanNamesForType(type, true, false))
			.anyMatch((name) -> beans.getDependentBeans(name).length > 0);
	}

	@Bean
	RefreshedPolicies rateLimitRefreshedPolicies(RateLimitProperties properties, ConfiguredPolicies policies,
			Environment environment, NamedAlgorithms algorithms, RateLimiter limiter, ListableBeanFactory beans) {
		return new RefreshedPolicies(properties, policies, environment, beans, algorithms, limiter,
				() -> properties.plan() != null
						|| beans.getBeanNamesForType(PlanResolver.class, true, false).length > 0);
	}

	@Bean
	ListedPlans rateLimitListedPlans(RefreshedPolicies policies, ObjectProvider<PolicySource> sources) {
		return new ListedPlans(policies::policies, () -> sources.stream().anyMatch((source) -> source != policies));
	}

	@Bean
	@ConditionalOnMissingBean
	Decider rateLimitDecisions(RateLimiter limiter, ObjectProvider<RateLimiterDecorator> decorators,
			ObjectProvider<DecisionListener> listeners, ObjectProvider<PolicySource> sources, InstanceCount instances,
			ObjectProvider<DenialCache> denials, RateLimitProperties properties, ObjectProvider<Time> time) {
		Duration longestCall = properties.longestCall();
		if (longestCall.compareTo(Duration.ofSeconds(1)) < 0 || longestCall.compareTo(Duration.ofDays(1)) > 0) {
			throw new InvalidConfigurationPropertyValueException("ratelimit.longest-call", longestCall,
					"Must be from 1s to 1d.");
		}
		RateLimiter decorated = limiter;
		for (RateLimiterDecorator decorator : decorators.orderedStream().toList()) {
			decorated = decorator.decorate(decorated);
		}
		return new Decider(decorated, listeners.orderedStream().toList(), () -> sources.orderedStream().toList(),
				properties.shown(), instances, denials.getIfAvailable(), longestCall,
				time.getIfAvailable(() -> Time.SYSTEM));
	}

	@Bean
	@ConditionalOnMissingBean
	PolicyLimiter rateLimitPolicyLimiter(ConfiguredPolicies policies, Decider decider,
			ObjectProvider<PolicyEnforcer> enforcer, ListedPlans plans) {
		return new ConfiguredPolicyLimiter(policies, decider, SingletonSupplier.of(enforcer::getObject), plans);
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

	/** Refuses policies that the store does not support, before the first request. */
	@Bean
	SmartInitializingSingleton rateLimitPolicyCheck(RateLimiter limiter, RateLimitProperties properties,
			ConfiguredPolicies policies) {
		return () -> new PolicyReader(properties.policies(), properties.defaults()).requireSupported(policies, limiter);
	}

	static final class DeclaredPoliciesFirst extends AbstractDependsOnBeanFactoryPostProcessor {

		DeclaredPoliciesFirst() {
			super(RateLimitProperties.class, DeclaredPolicies.class);
		}

	}

}
