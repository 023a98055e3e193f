package io.github.ratelimit.spring.redis;

import java.util.function.BiFunction;
import java.util.function.Function;

import io.github.ratelimit.PenaltyListener;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.redis.PipelineRateLimiter;
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.redis.RedisListener;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.config.PolicyReader;
import io.github.ratelimit.spring.config.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.config.RateLimitProperties;
import io.github.ratelimit.spring.config.RateLimitProperties.DenialCacheProperties;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import org.jspecify.annotations.Nullable;
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

		/**
		 * There is none if a client of the application is named, whose server only it
		 * knows.
		 */
		@Bean
		@Nullable RedisServer rateLimitRedisServer(RateLimitProperties properties, Environment environment,
				ObjectProvider<SslBundles> bundles, ObjectProvider<DataRedisServer> dataRedis) {
			return (properties.redis().client() != null) ? null : ServerReader.find(properties.redis(), environment,
					bundles.getIfAvailable(), dataRedis.getIfAvailable());
		}

		@Bean
		@ConditionalOnMissingBean
		RedisConnections rateLimitRedisConnections(RateLimitProperties properties, Environment environment,
				ListableBeanFactory beans, ObjectProvider<RedisServer> server,
				ObjectProvider<RedisListener> listeners) {
			ConnectionSettings settings = new ConnectionSettings(properties.redis(), environment);
			RedisServer own = server.getIfAvailable();
			logger.info("Rate limits are counted in Redis at {}", (own != null) ? own
					: "the server of the application's client '%s'".formatted(properties.redis().client()));
			return settings.connect((own != null) ? own.connections(settings.clientName()) : settings.client(beans),
					new RedisListeners(listeners));
		}

		@Bean
		RedisCheck rateLimitRedisCheck(RedisConnections redis, RateLimiter limiter, Decider decider,
				ConfiguredPolicies policies, ObjectProvider<RedisServer> server) {
			return new RedisCheck(redis, limiter, decider, policies, server.getIfAvailable());
		}

		@Bean
		RedisLifecycle rateLimitRedisLifecycle(RedisConnections redis, Decider decider) {
			return new RedisLifecycle(redis, decider);
		}

		@Bean
		@ConditionalOnBooleanProperty(name = "ratelimit.redis.scripting", matchIfMissing = true)
		RedisRateLimiter rateLimiter(RedisConnections redis, RateLimitProperties properties, Environment environment,
				ObjectProvider<PenaltyListener> penaltyListeners) {
			return create(properties, environment, (prefix) -> RedisRateLimiter.of(redis, prefix),
					(prefix, secret) -> RedisRateLimiter.of(redis, prefix, secret))
				.withPenaltyListener(new PenaltyListeners(penaltyListeners));
		}

		@Bean
		@ConditionalOnBooleanProperty(name = "ratelimit.redis.scripting", havingValue = false)
		PipelineRateLimiter pipelineRateLimiter(RedisConnections redis, RateLimitProperties properties,
				Environment environment) {
			return create(properties, environment, (prefix) -> PipelineRateLimiter.of(redis, prefix),
					(prefix, secret) -> PipelineRateLimiter.of(redis, prefix, secret));
		}

		private static <T> T create(RateLimitProperties properties, Environment environment, Function<String, T> plain,
				BiFunction<String, String, T> hashing) {
			String prefix = KeyPrefix.of(properties, environment);
			String secret = properties.identifierSecret();
			return PolicyReader.read(KeyPrefix.PROPERTY, prefix,
					() -> (secret == null || secret.isEmpty()) ? plain.apply(prefix) : hashing.apply(prefix, secret));
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

	}

}
