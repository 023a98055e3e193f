package io.github.ratelimit.spring.autoconfigure;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.util.JedisURIHelper;

import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.core.env.Environment;

/**
 * Where Redis is, and how to log in to it.
 *
 * @param ssl how to encrypt; {@code null} for not at all
 */
record RedisServer(HostAndPort address, @Nullable String username, @Nullable String password, int database,
		@Nullable RedisSsl ssl) {

	private static final int LAST_PORT = 65_535;

	private static final String OWN = "ratelimit.redis";

	static final String SPRING = "spring.data.redis";

	static final String UNSUPPORTED = "Rate limits need a single Redis server: set ratelimit.redis.url, or provide a UnifiedJedis bean.";

	private static final Pattern DATABASE = Pattern.compile("(/[0-9]{0,9})?");

	/**
	 * Finds the server: that of {@code ratelimit.redis}, else of a bean, else of
	 * {@code spring.data.redis}, else one on this host.
	 */
	static RedisServer find(RedisProperties properties, Environment environment, @Nullable SslBundles bundles,
			@Nullable DataRedisServer bean) {
		if (properties.url() != null || properties.host() != null) {
			return of(OWN, properties, bundles);
		}
		Binder binder = Binder.get(environment);
		requireNothingOfOwn(binder);
		RedisServer ofBean = (bean != null) ? bean.find() : null;
		if (ofBean != null) {
			return ofBean;
		}
		for (String unsupported : new String[] { "cluster.nodes", "masterreplica.nodes", "sentinel.master" }) {
			String property = SPRING + "." + unsupported;
			List<String> values = binder.bind(property, Bindable.listOf(String.class)).orElse(List.of());
			require(values.isEmpty(), property, String.join(",", values), UNSUPPORTED);
		}
		return of(SPRING, binder.bindOrCreate(SPRING, RedisProperties.class), bundles);
	}

	/** Refuses parts of a server that is not named: they would have no effect. */
	private static void requireNothingOfOwn(Binder binder) {
		for (String part : new String[] { "port", "username", "password", "database", "ssl.enabled", "ssl.bundle" }) {
			String property = OWN + "." + part;
			binder.bind(property, String.class).ifBound((value) -> {
				throw new HiddenValueException(property, part.equals("password") ? "***" : value,
						"Counts only with ratelimit.redis.host or ratelimit.redis.url: set one of them.");
			});
		}
	}

	private static RedisServer of(String prefix, RedisProperties properties, @Nullable SslBundles bundles) {
		if (properties.url() == null) {
			String host = (properties.host() != null) ? properties.host() : "localhost";
			require(properties.port() > 0 && properties.port() <= LAST_PORT, prefix + ".port", properties.port(),
					"Must be from 1 to 65535.");
			require(properties.database() >= 0, prefix + ".database", properties.database(), "Must not be negative.");
			return new RedisServer(new HostAndPort(host, properties.port()), properties.username(),
					properties.password(), properties.database(), ssl(prefix, properties.ssl(), false, bundles));
		}
		URI uri = uri(prefix, properties.url());
		String password = JedisURIHelper.getPassword(uri);
		return new RedisServer(
				new HostAndPort(uri.getHost(), (uri.getPort() != -1) ? uri.getPort() : properties.port()),
				(password != null) ? JedisURIHelper.getUser(uri) : properties.username(),
				(password != null) ? password : properties.password(),
				JedisURIHelper.hasDbIndex(uri) ? JedisURIHelper.getDBIndex(uri) : properties.database(),
				ssl(prefix, properties.ssl(), JedisURIHelper.isRedisSSLScheme(uri), bundles));
	}

	/** A bundle encrypts, unless encryption is switched off. */
	private static @Nullable RedisSsl ssl(String prefix, RedisProperties.Ssl ssl, boolean required,
			@Nullable SslBundles bundles) {
		String bundle = ssl.bundle();
		if (bundle != null && !bundle.isEmpty()) {
			String property = prefix + ".ssl.bundle";
			if (!Boolean.FALSE.equals(ssl.enabled())) {
				return new RedisSsl(bundle(property, bundle, bundles));
			}
			require(prefix.equals(SPRING), property, bundle,
					"Counts only with encryption, which ratelimit.redis.ssl.enabled switches off.");
		}
		return (required || Boolean.TRUE.equals(ssl.enabled())) ? new RedisSsl(null) : null;
	}

	private static SslBundle bundle(String property, String name, @Nullable SslBundles bundles) {
		try {
			if (bundles != null) {
				return bundles.getBundle(name);
			}
		}
		catch (NoSuchSslBundleException ex) {
			// Reported below, with the property.
		}
		throw new InvalidConfigurationPropertyValueException(property, name,
				"Must be the name of an SSL bundle, which are configured by spring.ssl.bundle.");
	}

	private static void require(boolean valid, String property, @Nullable Object value, String rule) {
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
	 * Creates a client that answers within the time-out: waiting for a connection,
	 * connecting, and the answer get half of it each, and a decision rarely needs more
	 * than two of them. A new connection does not tell the server what software it is,
	 * because each step of that is one more to wait for.
	 */
	UnifiedJedis connect(Duration timeout, RedisConnections connections) {
		int half = Math.toIntExact(Math.max(1, timeout.toMillis() / 2));
		ConnectionPoolConfig pool = connections.pool();
		pool.setMaxWait(Duration.ofMillis(half));
		DefaultJedisClientConfig.Builder config = DefaultJedisClientConfig.builder()
			.user(this.username)
			.password(this.password)
			.database(this.database)
			.clientName(connections.clientName())
			.clientSetInfoConfig(ClientSetInfoConfig.DISABLED)
			.connectionTimeoutMillis(half)
			.socketTimeoutMillis(half);
		if (this.ssl != null) {
			this.ssl.configure(config);
		}
		return RedisClient.builder().hostAndPort(this.address).clientConfig(config.build()).poolConfig(pool).build();
	}

	@Override
	public String toString() {
		return this.address.toString();
	}

}
