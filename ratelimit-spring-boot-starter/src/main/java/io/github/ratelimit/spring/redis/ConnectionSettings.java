package io.github.ratelimit.spring.redis;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.redis.RedisListener;
import io.github.ratelimit.spring.config.PolicyReader;
import io.github.ratelimit.spring.config.RedisProperties;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.UnifiedJedis;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;

/**
 * The settings of connections, independent of the server.
 *
 * @param clientName the name of the connections, by default that of
 * {@code spring.data.redis}; {@code null} for none
 */
record ConnectionSettings(RedisProperties properties, @Nullable String clientName) {

	ConnectionSettings(RedisProperties properties, Environment environment) {
		this(properties, clientName(properties, environment));
		Duration timeout = properties.timeout();
		require(timeout.compareTo(RedisConnections.SHORTEST_TIME_BUDGET) >= 0
				&& timeout.compareTo(RedisConnections.LONGEST_TIME_BUDGET) <= 0, "timeout", timeout,
				"Must be from 2ms to 1h.");
		require(properties.connections() >= 1 && properties.connections() <= RedisConnections.MAX_CONNECTIONS,
				"connections", properties.connections(),
				"Must be from 1 to %s.".formatted(RedisConnections.MAX_CONNECTIONS));
		require(properties.maxWaiting() >= 1, "max-waiting", properties.maxWaiting(), "Must be at least 1.");
	}

	private static @Nullable String clientName(RedisProperties properties, Environment environment) {
		String own = properties.clientName();
		String name = (own != null) ? own : environment.getProperty(ServerReader.SPRING + ".client-name", "");
		if (!name.matches("[!-~]*")) {
			throw new InvalidConfigurationPropertyValueException(
					((own != null) ? ServerReader.OWN : ServerReader.SPRING) + ".client-name", name,
					"Must contain only printable ASCII characters, and no spaces.");
		}
		return name.isEmpty() ? null : name;
	}

	/**
	 * Borrows the connections of the client of the application that is named. Refuses one
	 * that sends again by itself, or has no pool.
	 */
	RedisConnections.Builder client(ListableBeanFactory beans) {
		String property = ServerReader.OWN + ".client";
		String name = Objects.requireNonNull(this.properties.client());
		List<String> clients = List.of(beans.getBeanNamesForType(UnifiedJedis.class, true, false));
		if (!beans.containsBean(name) || !beans.isTypeMatch(name, UnifiedJedis.class)) {
			throw new InvalidConfigurationPropertyValueException(property, name,
					"Must be the name of a bean of type UnifiedJedis: there %s."
						.formatted(clients.isEmpty() ? "is none" : "are only " + clients));
		}
		UnifiedJedis client = beans.getBean(name, UnifiedJedis.class);
		return PolicyReader.read(property, name, () -> RedisConnections.client(client));
	}

	/** Does not connect yet. */
	RedisConnections connect(RedisConnections.Builder builder, RedisListener listener) {
		return builder.timeBudget(this.properties.timeout())
			.connections(this.properties.connections())
			.maxWaiting(this.properties.maxWaiting())
			.listener(listener)
			.build();
	}

	private static void require(boolean valid, String name, Object value, String rule) {
		if (!valid) {
			throw new InvalidConfigurationPropertyValueException(ServerReader.OWN + "." + name, value, rule);
		}
	}

}
