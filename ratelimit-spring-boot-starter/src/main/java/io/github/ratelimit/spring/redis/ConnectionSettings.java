package io.github.ratelimit.spring.redis;

import java.time.Duration;
import java.util.regex.Pattern;

import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.spring.policy.RedisProperties;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;

/**
 * The settings of connections, independent of the server.
 */
record ConnectionSettings(@Nullable String clientName, Duration timeout, int connections, int maxWaiting) {

	private static final String OWN = "ratelimit.redis.";

	private static final String OWN_CLIENT_NAME = OWN + "client-name";

	private static final String CLIENT_NAME = RedisServer.SPRING + ".client-name";

	/** Names that Redis accepts. */
	private static final Pattern NAME = Pattern.compile("[!-~]*");

	/**
	 * Reads the settings; the client name defaults to that of {@code spring.data.redis}.
	 */
	static ConnectionSettings of(RedisProperties properties, Environment environment) {
		boolean own = properties.clientName() != null;
		String ofSpring = environment.getProperty(CLIENT_NAME, "");
		String name = own ? properties.clientName() : (ofSpring.isEmpty() ? null : ofSpring);
		require(name == null || NAME.matcher(name).matches(), own ? OWN_CLIENT_NAME : CLIENT_NAME, name,
				"Must contain only printable ASCII characters, and no spaces.");
		Duration timeout = properties.timeout();
		require(timeout.compareTo(RedisConnections.SHORTEST_TIME_BUDGET) >= 0
				&& timeout.compareTo(RedisConnections.LONGEST_TIME_BUDGET) <= 0, OWN + "timeout", timeout,
				"Must be from 2ms to 1h.");
		require(properties.connections() >= 1 && properties.connections() <= RedisConnections.MAX_CONNECTIONS,
				OWN + "connections", properties.connections(),
				"Must be from 1 to %d.".formatted(RedisConnections.MAX_CONNECTIONS));
		require(properties.maxWaiting() >= 1, OWN + "max-waiting", properties.maxWaiting(), "Must be at least 1.");
		return new ConnectionSettings(name, timeout, properties.connections(), properties.maxWaiting());
	}

	/** Does not connect yet. */
	RedisConnections connect(RedisConnections.Builder builder) {
		return builder.timeBudget(this.timeout).connections(this.connections).maxWaiting(this.maxWaiting).build();
	}

	private static void require(boolean valid, String property, @Nullable Object value, String rule) {
		if (!valid) {
			throw new InvalidConfigurationPropertyValueException(property, value, rule);
		}
	}

}
