package io.github.ratelimit.spring.autoconfigure;

import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.redis.PipelineRateLimiter;
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.redis.RedisListener;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.DecisionListener;
import io.github.ratelimit.spring.InstanceCount;
import io.github.ratelimit.spring.OutageHandling;
import io.github.ratelimit.spring.PolicyDecisions;
import io.github.ratelimit.spring.PolicyEnforcer;
import io.github.ratelimit.spring.RateLimiterDecorator;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.aop.RateLimitedAdvisor;
import io.github.ratelimit.spring.aop.RateLimitedBeanCheck;
import io.github.ratelimit.spring.autoconfigure.RateLimitProperties.DenialCacheProperties;
import io.github.ratelimit.spring.web.PlanResolver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Auto-configuration of the rate limiter, its policies, and {@code @RateLimited}.
 *
 * @since 0.1
 */
@AutoConfiguration(after = AopAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "ratelimit.enabled", matchIfMissing = true)
@Import(RateLimitAutoConfiguration.AutoProxyRegistrar.class)
@ImportRuntimeHints(RateLimitRuntimeHints.class)
@EnableConfigurationProperties(RateLimitProperties.class)
public final class RateLimitAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(RateLimitAutoConfiguration.class);

	@Bean
	@ConditionalOnMissingBean
	ConfiguredPolicies rateLimitPolicies(RateLimitProperties properties, Environment environment,
			NamedAlgorithms algorithms) {
		return new PolicyReader(properties, environment).readPolicies(algorithms);
	}

	@Bean
	NamedAlgorithms rateLimitAlgorithms(ApplicationContext context) {
		return new NamedAlgorithms(context);
	}

	@Bean
	PolicyTable rateLimitPolicyTable(RateLimitProperties properties, ConfiguredPolicies policies,
			ObjectProvider<RateLimitedAdvisor> advisor) {
		return new PolicyTable(properties, policies, advisor);
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
			ConfiguredPolicies policies, ObjectProvider<DecisionListener> listeners,
			ObjectProvider<PolicySource> sources, OutageHandling outages, ObjectProvider<DenialCache> denials) {
		RateLimiter decorated = limiter;
		for (RateLimiterDecorator decorator : decorators.orderedStream().toList()) {
			decorated = decorator.decorate(decorated);
		}
		return new PolicyDecisions(decorated, policies, listeners.orderedStream().toList(),
				() -> sources.orderedStream().toList(), outages, denials.getIfAvailable());
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

	@Bean
	SettingsCheck rateLimitSettingsCheck(Environment environment, ListableBeanFactory beans,
			ConfiguredPolicies policies) {
		return new SettingsCheck(environment, beans, policies);
	}

	/**
	 * Refuses policies that the store cannot hold, before the first request.
	 */
	@Bean
	SmartInitializingSingleton rateLimitPolicyCheck(RateLimiter limiter, RateLimitProperties properties,
			ConfiguredPolicies policies, Environment environment) {
		return () -> new PolicyReader(properties, environment).requireSupported(policies, limiter);
	}

	/**
	 * An advisor of the infrastructure: without AspectJ, no others are applied.
	 */
	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static RateLimitedAdvisor rateLimitedAdvisor(ObjectProvider<ConfiguredPolicies> policies,
			ObjectProvider<NamedAlgorithms> algorithms, ObjectProvider<PolicyEnforcer> enforcer,
			Environment environment) {
		return new RateLimitedAdvisor(policies::getObject, (name) -> algorithms.getObject().get(name),
				enforcer::getObject, environment::resolveRequiredPlaceholders);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static RateLimitedBeanCheck rateLimitedBeanCheck(RateLimitedAdvisor advisor) {
		return new RateLimitedBeanCheck(advisor);
	}

	/**
	 * Comes after the check of all beans, which looks at the annotations of lazy ones.
	 */
	@Bean
	MissingIdentifierCheck rateLimitMissingIdentifierCheck(RateLimitProperties properties, ConfiguredPolicies policies,
			RateLimitedAdvisor advisor) {
		return new MissingIdentifierCheck(properties, policies, advisor);
	}

	/**
	 * Makes sure that there is somebody to apply the advisor, whatever
	 * {@code spring.aop.auto} and {@code spring.aop.proxy-target-class} say.
	 */
	static class AutoProxyRegistrar implements ImportBeanDefinitionRegistrar {

		@Override
		public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
			AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
		}

	}

	/**
	 * Knows the server of a test's container, or of Docker Compose.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(DataRedisConnectionDetails.class)
	static class DataRedisConfiguration {

		@Bean
		DataRedisServer rateLimitDataRedisServer(ObjectProvider<DataRedisConnectionDetails> details) {
			return new DataRedisServer(details::getIfAvailable);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingBean(RateLimiter.class)
	static class RedisConfiguration {

		@Bean
		WarmUp rateLimitWarmUp(RateLimiter limiter, ConfiguredPolicies policies) {
			return new WarmUp(limiter, policies);
		}

		@Bean
		RedisCheck rateLimitRedisCheck(RateLimiter limiter, PolicyDecisions decisions, ConfiguredPolicies policies,
				ObjectProvider<RedisServer> server) {
			return new RedisCheck(limiter, decisions, policies, server.getIfAvailable());
		}

		/**
		 * Connections of the limiter's own, unless a client is named of which it borrows
		 * some.
		 */
		@Bean
		@ConditionalOnMissingBean
		RedisConnections rateLimitRedisConnections(RateLimitProperties properties, Environment environment,
				ListableBeanFactory beans, ObjectProvider<RedisServer> server,
				ObjectProvider<RedisListener> listeners) {
			ConnectionSettings settings = ConnectionSettings.of(properties.redis(), environment);
			ApplicationClient client = ApplicationClient.of(properties.redis(), beans);
			RedisConnections.Builder builder = (client != null) ? client.connections()
					: server.getObject().connections(settings.clientName());
			logger.info("Rate limits are counted on Redis at {}", (client != null) ? client : server.getObject());
			return settings.connect(builder.listener(new RedisListeners(listeners)));
		}

		@Bean
		OutageEnd rateLimitOutageEnd(ObjectProvider<PolicyDecisions> decisions) {
			return new OutageEnd(decisions);
		}

		@Bean
		@ConditionalOnBooleanProperty(name = "ratelimit.redis.scripting", matchIfMissing = true)
		RedisRateLimiter rateLimiter(RedisConnections redis, RateLimitProperties properties, Environment environment) {
			String prefix = KeyPrefix.of(properties, environment);
			String secret = properties.identifierSecret();
			return PolicyReader.read(KeyPrefix.PROPERTY, prefix, () -> (secret == null || secret.isEmpty())
					? RedisRateLimiter.of(redis, prefix) : RedisRateLimiter.of(redis, prefix, secret));
		}

		@Bean
		@ConditionalOnBooleanProperty(name = "ratelimit.redis.scripting", havingValue = false)
		PipelineRateLimiter pipelineRateLimiter(RedisConnections redis, RateLimitProperties properties,
				Environment environment) {
			String prefix = KeyPrefix.of(properties, environment);
			String secret = properties.identifierSecret();
			return PolicyReader.read(KeyPrefix.PROPERTY, prefix, () -> (secret == null || secret.isEmpty())
					? PipelineRateLimiter.of(redis, prefix) : PipelineRateLimiter.of(redis, prefix, secret));
		}

		/**
		 * Not for plain commands, which count before they check: they may deny requests
		 * too early, and that should not last.
		 */
		@Bean
		@ConditionalOnMissingBean
		@ConditionalOnBooleanProperty(name = "ratelimit.redis.scripting", matchIfMissing = true)
		@ConditionalOnBooleanProperty(name = "ratelimit.denial-cache.enabled", matchIfMissing = true)
		DenialCache rateLimitDenialCache(RateLimitProperties properties) {
			DenialCacheProperties cache = properties.denialCache();
			PolicyReader.read("ratelimit.denial-cache.max-age", cache.maxAge(),
					() -> new DenialCache(cache.maxAge(), 1));
			return PolicyReader.read("ratelimit.denial-cache.max-size", cache.maxSize(),
					() -> new DenialCache(cache.maxAge(), cache.maxSize()));
		}

		@Bean
		@Conditional(ApplicationClient.NotNamed.class)
		RedisServer rateLimitRedisServer(RateLimitProperties properties, Environment environment,
				ObjectProvider<SslBundles> bundles, ObjectProvider<DataRedisServer> dataRedis) {
			return RedisServer.find(properties.redis(), environment, bundles.getIfAvailable(),
					dataRedis.getIfAvailable());
		}

	}

}
