package io.github.ratelimit.spring.redis;

import java.util.List;

import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.spring.policy.PolicyReader;
import io.github.ratelimit.spring.policy.RedisProperties;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.UnifiedJedis;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * A client of the application whose connections are borrowed, because
 * {@code ratelimit.redis.client} names it. Other clients are not used, because they may
 * be for another server.
 */
record ApplicationClient(String name, UnifiedJedis jedis) {

	static final String PROPERTY = "ratelimit.redis.client";

	private static final Logger logger = LoggerFactory.getLogger(ApplicationClient.class);

	/** Returns the client; {@code null} if none is named. */
	static @Nullable ApplicationClient of(RedisProperties properties, ListableBeanFactory beans) {
		List<String> clients = List.of(beans.getBeanNamesForType(UnifiedJedis.class, true, false));
		String name = properties.client();
		if (name == null) {
			if (!clients.isEmpty()) {
				logger.info("The connections of the clients {} are not used for rate limits. To borrow them, set {}",
						clients, PROPERTY);
			}
			return null;
		}
		if (!beans.containsBean(name) || !beans.isTypeMatch(name, UnifiedJedis.class)) {
			throw new InvalidConfigurationPropertyValueException(PROPERTY, name,
					"Must be the name of a bean of type UnifiedJedis: there %s."
						.formatted(clients.isEmpty() ? "is none" : "are only " + clients));
		}
		return new ApplicationClient(name, beans.getBean(name, UnifiedJedis.class));
	}

	/** Refuses a client that sends again by itself, or has no pool. */
	RedisConnections.Builder connections() {
		return PolicyReader.read(PROPERTY, this.name, () -> RedisConnections.client(this.jedis));
	}

	@Override
	public String toString() {
		return "the server of the application's client '" + this.name + "'";
	}

	/** Matches if no client is named. */
	static final class NotNamed implements Condition {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			return context.getEnvironment().getProperty(PROPERTY, "").isEmpty();
		}

	}

}
