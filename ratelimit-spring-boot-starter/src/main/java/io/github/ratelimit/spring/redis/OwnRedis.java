package io.github.ratelimit.spring.redis;

import java.net.URI;

import io.github.ratelimit.spring.policy.HiddenValueException;
import io.github.ratelimit.spring.policy.RedisProperties;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.util.JedisURIHelper;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * The server as configured by {@code ratelimit.redis}. A property that would have no
 * effect fails the startup.
 */
final class OwnRedis {

	static final String PREFIX = "ratelimit.redis";

	private final RedisProperties properties;

	private final Binder binder;

	OwnRedis(RedisProperties properties, Binder binder) {
		this.properties = properties;
		this.binder = binder;
	}

	/**
	 * Returns whether a server, sentinels or a cluster are named; refuses more than one.
	 */
	boolean namesServer() {
		if (this.properties.cluster() != null) {
			require(this.properties.url() == null && this.properties.host() == null
					&& this.properties.sentinel() == null, "cluster.nodes", this.properties.cluster().nodes(),
					"Cannot be combined with ratelimit.redis.url, ratelimit.redis.host or ratelimit.redis.sentinel: remove them.");
			requireNothing(
					"Has an effect only with ratelimit.redis.host, because the nodes of a cluster have their own ports: remove it.",
					"port");
			require(this.properties.database() == 0, "database", this.properties.database(),
					"Must be 0, because a cluster has no other database.");
			return true;
		}
		if (this.properties.sentinel() != null) {
			require(this.properties.url() == null && this.properties.host() == null, "sentinel.master",
					this.properties.sentinel().master(),
					"Cannot be combined with ratelimit.redis.url or ratelimit.redis.host: remove them.");
			requireNothing(
					"Has an effect only with ratelimit.redis.host, because the sentinels have their own ports: remove it.",
					"port");
			return true;
		}
		if (this.properties.url() != null || this.properties.host() != null) {
			return true;
		}
		requireNothing(
				"Has an effect only with ratelimit.redis.host, ratelimit.redis.url, ratelimit.redis.sentinel.master or ratelimit.redis.cluster.nodes: set one of them.",
				"port", "username", "password", "database", "ssl.enabled", "ssl.bundle");
		return false;
	}

	/** Refuses properties that repeat or contradict the URL. */
	void requireNothingBeside(URI url) {
		requireNothingBesideUrl("contains the host and port", "host", "port");
		if (RedisServer.holdsLogin(url)) {
			requireNothingBesideUrl("contains a login", "username", "password");
		}
		if (RedisServer.holdsDatabase(url)) {
			requireNothingBesideUrl("contains a database", "database");
		}
		if (JedisURIHelper.isRedisSSLScheme(url) && Boolean.FALSE.equals(this.properties.ssl().enabled())) {
			requireNothingBesideUrl("requires encryption", "ssl.enabled");
		}
	}

	private void requireNothingBesideUrl(String reason, String... parts) {
		requireNothing("Has no effect together with ratelimit.redis.url (%s), which %s: remove one of them."
			.formatted(InvalidRedisUrlException.shown(String.valueOf(this.properties.url())), reason), parts);
	}

	/** Refuses properties that would have no effect; empty ones count as not set. */
	private void requireNothing(String rule, String... parts) {
		for (String part : parts) {
			String property = PREFIX + "." + part;
			String value = this.binder.bind(property, String.class).orElse("");
			if (!value.isEmpty()) {
				throw new HiddenValueException(property, part.equals("password") ? "***" : value, rule);
			}
		}
	}

	private static void require(boolean valid, String part, @Nullable Object value, String rule) {
		if (!valid) {
			throw new InvalidConfigurationPropertyValueException(PREFIX + "." + part, value, rule);
		}
	}

}
