package io.github.ratelimit.spring.autoconfigure;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

import io.github.ratelimit.redis.TimeBudget;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.util.JedisURIHelper;

import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;

/**
 * Where Redis is, and how to log in to it.
 */
record RedisServer(HostAndPort address, @Nullable String username, @Nullable String password, int database,
		boolean ssl) {

	private static final int LAST_PORT = 65_535;

	private static final String OWN = "ratelimit.redis";

	private static final String SPRING = "spring.data.redis";

	private static final Pattern DATABASE = Pattern.compile("(/[0-9]{0,9})?");

	/**
	 * Finds the server: that of {@code ratelimit.redis}, else of
	 * {@code spring.data.redis}, else one on this host.
	 */
	static RedisServer find(RedisProperties properties, Environment environment) {
		if (properties.url() != null || properties.host() != null) {
			return of(OWN, properties);
		}
		Binder binder = Binder.get(environment);
		requireNothingOfOwn(binder);
		for (String unsupported : new String[] { "cluster.nodes", "masterreplica.nodes", "sentinel.master" }) {
			String property = SPRING + "." + unsupported;
			List<String> values = binder.bind(property, Bindable.listOf(String.class)).orElse(List.of());
			require(values.isEmpty(), property, String.join(",", values),
					"Rate limits need a single Redis server: set ratelimit.redis.url, or provide a UnifiedJedis bean.");
		}
		binder.bind(SPRING + ".ssl.bundle", String.class)
			.ifBound((bundle) -> require(bundle.isEmpty(), SPRING + ".ssl.bundle", bundle,
					"Rate limits do not support SSL bundles yet: set ratelimit.redis.url, or provide a UnifiedJedis bean."));
		return of(SPRING, binder.bindOrCreate(SPRING, RedisProperties.class));
	}

	/** Refuses parts of a server that is not named: they would have no effect. */
	private static void requireNothingOfOwn(Binder binder) {
		for (String part : new String[] { "port", "username", "password", "database", "ssl.enabled" }) {
			String property = OWN + "." + part;
			binder.bind(property, String.class).ifBound((value) -> {
				throw new HiddenValueException(property, part.equals("password") ? "***" : value,
						"Counts only with ratelimit.redis.host or ratelimit.redis.url: set one of them.");
			});
		}
	}

	private static RedisServer of(String prefix, RedisProperties properties) {
		if (properties.url() == null) {
			String host = (properties.host() != null) ? properties.host() : "localhost";
			require(properties.port() > 0 && properties.port() <= LAST_PORT, prefix + ".port", properties.port(),
					"Must be from 1 to 65535.");
			require(properties.database() >= 0, prefix + ".database", properties.database(), "Must not be negative.");
			return new RedisServer(new HostAndPort(host, properties.port()), properties.username(),
					properties.password(), properties.database(), properties.ssl().enabled());
		}
		URI uri = uri(prefix, properties.url());
		String password = JedisURIHelper.getPassword(uri);
		return new RedisServer(
				new HostAndPort(uri.getHost(), (uri.getPort() != -1) ? uri.getPort() : properties.port()),
				(password != null) ? JedisURIHelper.getUser(uri) : properties.username(),
				(password != null) ? password : properties.password(),
				JedisURIHelper.hasDbIndex(uri) ? JedisURIHelper.getDBIndex(uri) : properties.database(),
				JedisURIHelper.isRedisSSLScheme(uri) || properties.ssl().enabled());
	}

	private static void require(boolean valid, String property, Object value, String rule) {
		if (!valid) {
			throw new InvalidConfigurationPropertyValueException(property, value, rule);
		}
	}

	private static URI uri(String prefix, String url) {
		try {
			URI uri = URI.create(url);
			if (uri.getHost() != null && uri.getPort() <= LAST_PORT && uri.getPort() != 0
					&& DATABASE.matcher(uri.getPath()).matches()
					&& (JedisURIHelper.isRedisScheme(uri) || JedisURIHelper.isRedisSSLScheme(uri))) {
				return uri;
			}
		}
		catch (IllegalArgumentException ex) {
			// Reported below, without the password that it may hold.
		}
		throw new InvalidRedisUrlException(prefix + ".url", url);
	}

	/**
	 * Creates a client whose decisions end within a time budget. A new connection does
	 * not tell the server who it is, because each step of that is one more to wait for.
	 */
	TimeBudget connect(Duration budget) {
		return new TimeBudget(budget, this.address,
				DefaultJedisClientConfig.builder()
					.user(this.username)
					.password(this.password)
					.database(this.database)
					.ssl(this.ssl)
					.clientSetInfoConfig(ClientSetInfoConfig.DISABLED)
					.build());
	}

	@Override
	public String toString() {
		return this.address.toString();
	}

}
