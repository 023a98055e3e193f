package io.github.ratelimit.spring.redis;

import java.net.URI;

import io.github.ratelimit.spring.policy.HiddenValueException;
import io.github.ratelimit.spring.policy.RedisProperties;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.util.JedisURIHelper;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * What {@code ratelimit.redis} says of the server. A part of it that would have no effect
 * stops the start.
 */
final class OwnRedis {

	static final String PREFIX = "ratelimit.redis";

	private final RedisProperties properties;

	private final Binder binder;

	OwnRedis(RedisProperties properties, Binder binder) {
		this.properties = properties;
		this.binder = binder;
	}

	/** Whether a server, sentinels or a cluster are named, and one of them only. */
	boolean namesServer() {
		if (this.properties.cluster() != null) {
			require(this.properties.url() == null && this.properties.host() == null
					&& this.properties.sentinel() == null, "cluster.nodes", this.properties.cluster().nodes(),
					"Counts only without ratelimit.redis.url, ratelimit.redis.host and ratelimit.redis.sentinel: remove them.");
			requireNothing(
					"Counts only with ratelimit.redis.host: the nodes of a cluster have ports of their own: remove it.",
					"port");
			require(this.properties.database() == 0, "database", this.properties.database(),
					"Must be 0, because a cluster has no other.");
			return true;
		}
		if (this.properties.sentinel() != null) {
			require(this.properties.url() == null && this.properties.host() == null, "sentinel.master",
					this.properties.sentinel().master(),
					"Counts only without ratelimit.redis.url and ratelimit.redis.host: remove them.");
			requireNothing("Counts only with ratelimit.redis.host: the sentinels have ports of their own: remove it.",
					"port");
			return true;
		}
		if (this.properties.url() != null || this.properties.host() != null) {
			return true;
		}
		requireNothing(
				"Counts only with ratelimit.redis.host, ratelimit.redis.url, ratelimit.redis.sentinel.master or ratelimit.redis.cluster.nodes: set one of them.",
				"port", "username", "password", "database", "ssl.enabled", "ssl.bundle");
		return false;
	}

	/** Refuses what the URL says as well, or contradicts. */
	void requireNothingBeside(URI url) {
		requireNothingBesideUrl("says where the server is", "host", "port");
		if (RedisServer.holdsLogin(url)) {
			requireNothingBesideUrl("holds a login", "username", "password");
		}
		if (JedisURIHelper.hasDbIndex(url)) {
			requireNothingBesideUrl("holds a database", "database");
		}
		if (JedisURIHelper.isRedisSSLScheme(url) && Boolean.FALSE.equals(this.properties.ssl().enabled())) {
			requireNothingBesideUrl("asks for encryption", "ssl.enabled");
		}
	}

	private void requireNothingBesideUrl(String reason, String... parts) {
		requireNothing("Has no effect beside ratelimit.redis.url (%s), which %s: remove one of them."
			.formatted(InvalidRedisUrlException.shown(String.valueOf(this.properties.url())), reason), parts);
	}

	/** Refuses parts that would have no effect; empty texts ask for none. */
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
