package io.github.ratelimit.spring.redis;

import java.util.List;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;

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
import io.github.ratelimit.spring.config.RedisProperties;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.decide.Listeners;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.redis.RedisServer.Logins;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.RedisCredentials;
import redis.clients.jedis.UnifiedJedis;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.ResolvableType;
import org.springframework.core.env.ConfigurableEnvironment;
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
		@Nullable RedisServer rateLimitRedisServer(RateLimitProperties properties, ConfigurableEnvironment environment,
				ObjectProvider<SslBundles> bundles, ObjectProvider<DataRedisServer> dataRedis,
				ListableBeanFactory beans) {
			RedisProperties settings = properties.redis();
			if (settings.client() != null) {
				ServerReader.requireNothingBesideClient(settings, environment);
				return null;
			}
			Function<Environment, RedisServer> reader = (now) -> ServerReader.find(
					Binder.get(now).bindOrCreate(ServerReader.OWN, RedisProperties.class), now,
					bundles.getIfAvailable(), dataRedis.getIfAvailable());
			RedisServer server = reader.apply(environment);
			CurrentLogin login = new CurrentLogin(server, environment, reader);
			RedisProperties.Sentinel sentinel = settings.sentinel();
			return server.with(new Logins(settings.credentials(),
					login("credentials", settings.credentials(), login::ofServer, beans), login("sentinel.credentials",
							(sentinel != null) ? sentinel.credentials() : null, login::ofSentinels, beans)));
		}

		/** Returns the bean that a property names, if it does. */
		@SuppressWarnings("unchecked")
		private static Supplier<RedisCredentials> login(String property, @Nullable String name,
				Supplier<RedisCredentials> otherwise, ListableBeanFactory beans) {
			return (name == null) ? otherwise
					: (Supplier<RedisCredentials>) bean(ServerReader.OWN + "." + property, name,
							ResolvableType.forClassWithGenerics(Supplier.class, RedisCredentials.class),
							"RedisCredentialsProvider, or another Supplier<RedisCredentials>", beans);
		}

		/** Returns the bean that a property names. */
		private static Object bean(String property, String name, ResolvableType type, String typeName,
				ListableBeanFactory beans) {
			List<String> names = List.of(beans.getBeanNamesForType(type, true, false));
			if (!beans.containsBean(name) || !beans.isTypeMatch(name, type)) {
				throw new InvalidConfigurationPropertyValueException(property, name,
						"Must be the name of a bean of type %s: there %s.".formatted(typeName,
								names.isEmpty() ? "is none" : "are only " + names));
			}
			return beans.getBean(name);
		}

		@Bean
		@ConditionalOnMissingBean
		RedisConnections rateLimitRedisConnections(RateLimitProperties properties, Environment environment,
				ListableBeanFactory beans, ObjectProvider<RedisServer> server,
				ObjectProvider<RedisListener> listeners) {
			RedisProperties settings = properties.redis();
			RedisServer own = server.getIfAvailable();
			String name = ServerReader.clientName(settings, environment);
			ServerReader.requireValidNumbers(settings);
			logger.info("Rate limits are counted in Redis at {}",
					(own != null) ? own : "the server of the application's client '%s'".formatted(settings.client()));
			return ((own != null) ? own.connections(name) : borrowed(settings, beans)).timeBudget(settings.timeout())
				.connections(settings.connections())
				.maxWaiting(settings.maxWaiting())
				.listener(new RedisListeners(listeners))
				.build();
		}

		/** Refuses a client that sends again by itself, or has no pool. */
		private static RedisConnections.Builder borrowed(RedisProperties settings, ListableBeanFactory beans) {
			String name = Objects.requireNonNull(settings.client());
			String property = ServerReader.OWN + ".client";
			UnifiedJedis client = (UnifiedJedis) bean(property, name, ResolvableType.forClass(UnifiedJedis.class),
					"UnifiedJedis", beans);
			return PolicyReader.read(property, name, () -> RedisConnections.client(client));
		}

		@Bean
		RedisCheck rateLimitRedisCheck(RedisConnections redis, RateLimiter limiter, Decider decider,
				ConfiguredPolicies policies, ObjectProvider<RedisServer> server, RateLimitProperties properties) {
			return new RedisCheck(redis, limiter, decider, policies, server.getIfAvailable(),
					properties.redis().failFast());
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
				.withPenaltyListener(logging(penaltyListeners));
		}

		/**
		 * Logs penalties, without the values of identifiers, and tells the beans, which
		 * are looked up later because they may depend on the rate limiter.
		 */
		private static PenaltyListener logging(ObjectProvider<PenaltyListener> beans) {
			Listeners<PenaltyListener> listeners = new Listeners<>(() -> beans.orderedStream().toList());
			return (block, shadow) -> {
				logger.info("An identifier ({}) {} until {}: {}", block.identifier().type(),
						shadow ? "would be blocked, if this were not in shadow mode," : "is blocked", block.until(),
						block.reason());
				listeners.tell((listener) -> listener.penalized(block, shadow));
			};
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
