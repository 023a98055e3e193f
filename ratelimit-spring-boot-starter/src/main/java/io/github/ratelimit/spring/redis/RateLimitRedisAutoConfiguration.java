package io.github.ratelimit.spring.redis;

import io.github.ratelimit.PenaltyListener;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.redis.PipelineRateLimiter;
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.redis.RedisListener;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.PolicyDecisions;
import io.github.ratelimit.spring.policy.PolicyReader;
import io.github.ratelimit.spring.policy.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.policy.RateLimitProperties;
import io.github.ratelimit.spring.policy.RateLimitProperties.DenialCacheProperties;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration of the rate limiter on Redis, unless the application declares a
 * {@link RateLimiter} bean.
 *
 * @since 0.1
 */
@AutoConfiguration(before = RateLimitAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "ratelimit.enabled", matchIfMissing = true)
@ImportRuntimeHints(RedisRuntimeHints.class)
public final class RateLimitRedisAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(RateLimitRedisAutoConfiguration.class);

	@Bean
	SettingsCheck rateLimitSettingsCheck(Environment environment, ListableBeanFactory beans,
			ConfiguredPolicies policies) {
		return new SettingsCheck(environment, beans, policies);
	}

	/**
	 * Provides the server of a test container or of Docker Compose.
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
		 * The limiter's own connections, or those of the named client.
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
			logger.info("Rate limits are counted in Redis at {}", (client != null) ? client : server.getObject());
			return settings.connect(builder.listener(new RedisListeners(listeners)));
		}

		@Bean
		OutageEnd rateLimitOutageEnd(ObjectProvider<PolicyDecisions> decisions) {
			return new OutageEnd(decisions);
		}

		@Bean
		@ConditionalOnBooleanProperty(name = "ratelimit.redis.scripting", matchIfMissing = true)
		RedisRateLimiter rateLimiter(RedisConnections redis, RateLimitProperties properties, Environment environment,
				ObjectProvider<PenaltyListener> penaltyListeners) {
			String prefix = KeyPrefix.of(properties, environment);
			String secret = properties.identifierSecret();
			RedisRateLimiter limiter = PolicyReader.read(KeyPrefix.PROPERTY, prefix,
					() -> (secret == null || secret.isEmpty()) ? RedisRateLimiter.of(redis, prefix)
							: RedisRateLimiter.of(redis, prefix, secret));
			return limiter.withPenaltyListener(new PenaltyListeners(penaltyListeners));
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
		 * too early, and such a denial should not be kept.
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
