package io.github.ratelimit.spring.method;

import io.github.ratelimit.spring.config.NamedAlgorithms;
import io.github.ratelimit.spring.config.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.config.RateLimitProperties;
import io.github.ratelimit.spring.decide.PolicyEnforcer;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Auto-configuration of {@code @RateLimited}.
 *
 * @since 0.1
 */
@AutoConfiguration(before = RateLimitAutoConfiguration.class, after = AopAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "ratelimit.enabled", matchIfMissing = true)
@Import(RateLimitMethodAutoConfiguration.AutoProxyRegistrar.class)
public final class RateLimitMethodAutoConfiguration {

	/**
	 * An infrastructure bean, because without AspectJ no other advisors are applied.
	 */
	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static RateLimitedAdvisor rateLimitedAdvisor(ObjectProvider<ConfiguredPolicies> policies,
			ObjectProvider<NamedAlgorithms> algorithms, ObjectProvider<PolicyEnforcer> enforcer,
			Environment environment) {
		return new RateLimitedAdvisor(
				new RateLimitedReader(policies::getObject, (name) -> algorithms.getObject().get(name),
						enforcer::getObject, environment::resolveRequiredPlaceholders),
				enforcer::getObject, order(environment));
	}

	/** Reads the environment, because the properties bean would be created too early. */
	private static int order(Environment environment) {
		int order = Binder.get(environment)
			.bindOrCreate("ratelimit.method", RateLimitProperties.MethodProperties.class)
			.order();
		if (order == Ordered.LOWEST_PRECEDENCE) {
			throw new InvalidConfigurationPropertyValueException("ratelimit.method.order", order,
					"Must be less: transactions and caching have this order, and a denied call must not begin a transaction.");
		}
		return order;
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static RateLimitedBeanCheck rateLimitedBeanCheck(RateLimitedAdvisor advisor, BeanFactory beanFactory) {
		return new RateLimitedBeanCheck(advisor, (ConfigurableListableBeanFactory) beanFactory);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LimitBeforeOtherAdvice rateLimitBeforeOtherAdvice(RateLimitedAdvisor advisor, RateLimitedBeanCheck check) {
		return new LimitBeforeOtherAdvice(advisor, check);
	}

	/**
	 * Registers a post-processor that applies the advisor, whatever
	 * {@code spring.aop.auto} and {@code spring.aop.proxy-target-class} are.
	 */
	static class AutoProxyRegistrar implements ImportBeanDefinitionRegistrar {

		@Override
		public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
			AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
		}

	}

}
