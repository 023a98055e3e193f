package io.github.ratelimit.spring.redis;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import inet.ipaddr.IPAddressString;
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.spring.policy.RedisProperties;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.util.JedisURIHelper;

import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * The address of Redis and the login.
 *
 * @param nodes the server, the sentinels, or nodes of a cluster
 * @param sentinel the master to ask the sentinels for; {@code null} without sentinels
 * @param cluster whether it is a cluster
 * @param ssl encryption; {@code null} for none
 */
record RedisServer(List<HostAndPort> nodes, @Nullable RedisSentinel sentinel, boolean cluster,
		@Nullable String username, @Nullable String password, int database, @Nullable RedisSsl ssl) {

	private static final int LAST_PORT = 65_535;

	/** Timeout for each address of a host; no request waits for it. */
	private static final int CONNECTION_TIMEOUT_MILLIS = 1000;

	private static final String OWN = OwnRedis.PREFIX;

	static final String SPRING = "spring.data.redis";

	static final String UNSUPPORTED = "Rate limits need a single Redis server, sentinels or a cluster: set ratelimit.redis.url, or name a UnifiedJedis bean in ratelimit.redis.client.";

	private static final Pattern DATABASE = Pattern.compile("(/[0-9]{0,9})?");

	/** Syntax of a node; an IPv6 address may be in brackets. */
	private static final Pattern NODE = Pattern.compile("(?:\\[([^]\\s]+)]|([^\\[\\s]+)):([0-9]{1,5})");

	RedisServer(HostAndPort address, @Nullable String username, @Nullable String password, int database,
			@Nullable RedisSsl ssl) {
		this(List.of(address), null, false, username, password, database, ssl);
	}

	/** Creates a cluster, which has only the first database. */
	static RedisServer ofCluster(List<HostAndPort> nodes, @Nullable String username, @Nullable String password,
			@Nullable RedisSsl ssl) {
		return new RedisServer(nodes, null, true, username, password, 0, ssl);
	}

	/**
	 * Finds the server: from {@code ratelimit.redis}, or else from a bean, from
	 * {@code spring.data.redis}, or on this host.
	 */
	static RedisServer find(RedisProperties properties, Environment environment, @Nullable SslBundles bundles,
			@Nullable DataRedisServer bean) {
		requireUrlText(OWN, properties);
		requireHostText(OWN, properties);
		Binder binder = Binder.get(environment);
		OwnRedis own = new OwnRedis(properties, binder);
		if (own.namesServer()) {
			RedisServer server = of(OWN, properties, bundles);
			if (properties.url() != null) {
				own.requireNothingBeside(uri(OWN, properties.url()));
			}
			return server;
		}
		RedisServer ofBean = (bean != null) ? bean.find() : null;
		if (ofBean != null) {
			return ofBean;
		}
		String unsupported = SPRING + ".masterreplica.nodes";
		List<String> values = binder.bind(unsupported, Bindable.listOf(String.class)).orElse(List.of());
		require(values.isEmpty(), unsupported, String.join(",", values), UNSUPPORTED);
		RedisProperties ofSpring = binder.bindOrCreate(SPRING, RedisProperties.class);
		requireUrlText(SPRING, ofSpring);
		// Spring Boot ignores the host otherwise.
		if (ofSpring.url() == null && ofSpring.sentinel() == null && ofSpring.cluster() == null) {
			requireHostText(SPRING, ofSpring);
		}
		return of(SPRING, ofSpring, bundles);
	}

	private static void requireUrlText(String prefix, RedisProperties properties) {
		requireText(properties.url(), prefix + ".url");
	}

	private static void requireHostText(String prefix, RedisProperties properties) {
		requireText(properties.host(), prefix + ".host");
	}

	/** Refuses an empty value, because it is not clear which server is meant. */
	private static void requireText(@Nullable String value, String property) {
		require(value == null || !value.isBlank(), property, value,
				"Must not be empty: name the server, or remove it.");
	}

	private static RedisServer of(String prefix, RedisProperties properties, @Nullable SslBundles bundles) {
		RedisServer server = standalone(prefix, properties, bundles);
		RedisProperties.Sentinel sentinel = properties.sentinel();
		if (sentinel == null) {
			return (properties.cluster() != null) ? cluster(prefix, properties.cluster(), server) : server;
		}
		String master = sentinel.master();
		if (master == null || master.isBlank()) {
			throw new InvalidConfigurationPropertyValueException(prefix + ".sentinel.master", master,
					"Must be the name of the master that the sentinels monitor.");
		}
		require(!sentinel.nodes().isEmpty(), prefix + ".sentinel.nodes", sentinel.nodes(),
				"Must name the sentinels, such as example.com:26379.");
		return new RedisServer(nodes(prefix + ".sentinel.nodes", sentinel.nodes(), "example.com:26379"),
				new RedisSentinel(master, sentinel.username(), sentinel.password()), false, server.username(),
				server.password(), server.database(), server.ssl());
	}

	/** Uses the login and encryption of a given server. */
	private static RedisServer cluster(String prefix, RedisProperties.Cluster cluster, RedisServer server) {
		String property = prefix + ".cluster.nodes";
		require(!cluster.nodes().isEmpty(), property, cluster.nodes(),
				"Must name nodes of the cluster, such as example.com:6379.");
		return ofCluster(nodes(property, cluster.nodes(), "example.com:6379"), server.username(), server.password(),
				server.ssl());
	}

	private static List<HostAndPort> nodes(String property, List<String> nodes, String example) {
		return nodes.stream().map((node) -> {
			HostAndPort address = node(node);
			require(address != null, property, node, "Must be a host and a port, such as " + example + ".");
			return address;
		}).toList();
	}

	private static @Nullable HostAndPort node(String node) {
		Matcher matcher = NODE.matcher(node);
		int port = matcher.matches() ? Integer.parseInt(matcher.group(3)) : 0;
		if (port == 0 || port > LAST_PORT) {
			return null;
		}
		String address = matcher.group(1);
		String host = matcher.group(2);
		if (address == null && host.indexOf(':') == -1) {
			return new HostAndPort(host, port);
		}
		String ipv6 = (address != null) ? address : host;
		return new IPAddressString(ipv6).isIPv6() ? new HostAndPort("[" + ipv6 + "]", port) : null;
	}

	private static RedisServer standalone(String prefix, RedisProperties properties, @Nullable SslBundles bundles) {
		if (properties.url() == null) {
			String host = (properties.host() != null) ? properties.host() : "localhost";
			require(properties.port() > 0 && properties.port() <= LAST_PORT, prefix + ".port", properties.port(),
					"Must be from 1 to 65535.");
			require(properties.database() >= 0, prefix + ".database", properties.database(), "Must not be negative.");
			return new RedisServer(new HostAndPort(host, properties.port()), properties.username(),
					properties.password(), properties.database(), ssl(prefix, properties.ssl(), false, bundles));
		}
		URI uri = uri(prefix, properties.url());
		// The URL of Spring Boot replaces its other properties.
		boolean own = prefix.equals(OWN);
		String username = own ? properties.username() : null;
		String password = own ? properties.password() : null;
		if (holdsLogin(uri)) {
			String login = uri.getRawUserInfo();
			int colon = login.indexOf(':');
			username = decoded(login.substring(0, Math.max(0, colon)));
			password = decoded(login.substring(colon + 1));
		}
		int database = own ? properties.database() : 0;
		return new RedisServer(
				new HostAndPort(uri.getHost(), (uri.getPort() != -1) ? uri.getPort() : properties.port()), username,
				password, holdsDatabase(uri) ? JedisURIHelper.getDBIndex(uri) : database,
				ssl(prefix, properties.ssl(), JedisURIHelper.isRedisSSLScheme(uri), bundles));
	}

	/** Returns whether a URL contains a login that is not empty. */
	static boolean holdsLogin(URI url) {
		String login = url.getRawUserInfo();
		return login != null && !login.isEmpty() && !login.equals(":");
	}

	/** Returns whether a URL names a database. */
	static boolean holdsDatabase(URI url) {
		return url.getPath().length() > 1;
	}

	/** Returns null for an empty part. */
	private static @Nullable String decoded(String part) {
		return part.isEmpty() ? null : StringUtils.uriDecode(part, StandardCharsets.UTF_8);
	}

	/** A bundle switches encryption on, unless it is switched off explicitly. */
	private static @Nullable RedisSsl ssl(String prefix, RedisProperties.Ssl ssl, boolean required,
			@Nullable SslBundles bundles) {
		String bundle = ssl.bundle();
		if (bundle != null) {
			String property = prefix + ".ssl.bundle";
			if (!Boolean.FALSE.equals(ssl.enabled())) {
				return new RedisSsl(bundle(property, bundle, bundles));
			}
			require(prefix.equals(SPRING), property, bundle,
					"Has an effect only with encryption, which ratelimit.redis.ssl.enabled switches off.");
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
				"Must be the name of an SSL bundle below spring.ssl.bundle.");
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
					&& DATABASE.matcher(uri.getPath()).matches() && uri.getRawFragment() == null
					&& (JedisURIHelper.isRedisScheme(uri) || JedisURIHelper.isRedisSSLScheme(uri))) {
				return uri;
			}
		}
		catch (IllegalArgumentException ex) {
			// Reported below, without the password that it may contain.
		}
		throw new InvalidRedisUrlException(prefix + ".url", url);
	}

	/**
	 * Returns a builder of connections. New connections do not send the client library
	 * and its version, to save round trips.
	 * @param clientName the name of the connections; {@code null} for none
	 */
	RedisConnections.Builder connections(@Nullable String clientName) {
		JedisClientConfig config = config(clientName).user(this.username)
			.password(this.password)
			.database(this.database)
			.build();
		if (this.cluster) {
			return RedisConnections.cluster(Set.copyOf(this.nodes)).config(config);
		}
		if (this.sentinel == null) {
			return RedisConnections.server(address()).config(config);
		}
		JedisClientConfig sentinels = config(clientName).user(this.sentinel.username())
			.password(this.sentinel.password())
			.build();
		return RedisConnections.sentinel(this.sentinel.master(), Set.copyOf(this.nodes), sentinels).config(config);
	}

	private DefaultJedisClientConfig.Builder config(@Nullable String clientName) {
		DefaultJedisClientConfig.Builder config = DefaultJedisClientConfig.builder()
			.clientName(clientName)
			.connectionTimeoutMillis(CONNECTION_TIMEOUT_MILLIS)
			.clientSetInfoConfig(ClientSetInfoConfig.DISABLED);
		if (this.ssl != null) {
			this.ssl.configure(config);
		}
		return config;
	}

	HostAndPort address() {
		return this.nodes.get(0);
	}

	@Override
	public String toString() {
		if (this.cluster) {
			return "the cluster of the nodes " + this.nodes;
		}
		return (this.sentinel == null) ? address().toString()
				: "the master %s of the sentinels %s".formatted(this.sentinel.master(), this.nodes);
	}

}
