package io.github.ratelimit.spring.autoconfigure;

import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.ConnectionPoolConfig;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;

/**
 * How many connections there are, and what the server knows them by, whichever server it
 * is.
 */
record RedisConnections(@Nullable String clientName, int maxActive, int maxIdle, int minIdle) {

	private static final String OWN = "ratelimit.redis.";

	private static final String OWN_CLIENT_NAME = OWN + "client-name";

	private static final String CLIENT_NAME = RedisServer.SPRING + ".client-name";

	/** What Redis accepts as a name. */
	private static final Pattern NAME = Pattern.compile("[!-~]*");

	/** The name is that of {@code spring.data.redis} if there is no other. */
	static RedisConnections of(RedisProperties properties, Environment environment) {
		boolean own = properties.clientName() != null;
		String ofSpring = environment.getProperty(CLIENT_NAME, "");
		String name = own ? properties.clientName() : (ofSpring.isEmpty() ? null : ofSpring);
		require(name == null || NAME.matcher(name).matches(), own ? OWN_CLIENT_NAME : CLIENT_NAME, name,
				"Must have no spaces, and only printable characters of ASCII.");
		RedisProperties.Pool pool = properties.pool();
		int maxIdle = (pool.maxIdle() != null) ? pool.maxIdle() : pool.maxActive();
		require(pool.maxActive() > 0, OWN + "pool.max-active", pool.maxActive(), "Must be at least 1.");
		require(maxIdle >= 0 && maxIdle <= pool.maxActive(), OWN + "pool.max-idle", maxIdle,
				"Must be from 0 to ratelimit.redis.pool.max-active.");
		require(pool.minIdle() >= 0 && pool.minIdle() <= maxIdle, OWN + "pool.min-idle", pool.minIdle(),
				"Must be from 0 to ratelimit.redis.pool.max-idle.");
		return new RedisConnections(name, pool.maxActive(), maxIdle, pool.minIdle());
	}

	private static void require(boolean valid, String property, @Nullable Object value, String rule) {
		if (!valid) {
			throw new InvalidConfigurationPropertyValueException(property, value, rule);
		}
	}

	ConnectionPoolConfig pool() {
		ConnectionPoolConfig pool = new ConnectionPoolConfig();
		pool.setMaxTotal(this.maxActive);
		pool.setMaxIdle(this.maxIdle);
		pool.setMinIdle(this.minIdle);
		return pool;
	}

}
