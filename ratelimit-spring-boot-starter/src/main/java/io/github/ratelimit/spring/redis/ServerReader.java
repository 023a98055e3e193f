package io.github.ratelimit.spring.redis;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.net.ssl.SNIHostName;

import inet.ipaddr.IPAddressString;
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.spring.config.HiddenValueException;
import io.github.ratelimit.spring.config.RedisProperties;
import io.github.ratelimit.spring.decide.LoggedOnce;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;
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
 * Reads how Redis is connected to, and which server is used: that of
 * {@code ratelimit.redis}, or else of a bean, of {@code spring.data.redis}, or on this
 * host. A property of {@code ratelimit.redis} that would have no effect fails the
 * startup. Messages hide what may be a password.
 */
final class ServerReader {

	static final String OWN = "ratelimit.redis";

	static final String SPRING = "spring.data.redis";

	static final String UNSUPPORTED = "Rate limits need a single Redis server, sentinels or a cluster: set ratelimit.redis.url, or name a UnifiedJedis bean in ratelimit.redis.client.";

	/** Properties are read again later. */
	private static final LoggedOnce log = new LoggedOnce(ServerReader.class);

	private static final String URL_RULE = "Must be a URL such as redis://user:password@example.com:6379/0, or rediss:// for encryption, with no parameters (?...). Special characters of the user name and the password must be percent-encoded, such as %%40 for @. Set %1$s.host for a host with an underscore, and %1$s.cluster.nodes or %1$s.sentinel.nodes for several servers.";

	private static final String BESIDE = "Has no effect together with %s: remove one of them.";

	private static final String ALONE = "Has an effect only with ratelimit.redis.host, ratelimit.redis.url, ratelimit.redis.sentinel.master or ratelimit.redis.cluster.nodes: set one of them.";

	private static final String EMPTY = "Must not be empty: name the server, or remove it.";

	private static final Pattern DATABASE = Pattern.compile("(/[0-9]{0,9})?");

	/** Syntax of a node; an IPv6 address may be in brackets. */
	private static final Pattern NODE = Pattern.compile("(\\S+):([0-9]{1,5})");

	private final String prefix;

	private final RedisProperties properties;

	private final @Nullable SslBundles bundles;

	private ServerReader(String prefix, RedisProperties properties, @Nullable SslBundles bundles) {
		this.prefix = prefix;
		this.properties = properties;
		this.bundles = bundles;
	}

	static RedisServer find(RedisProperties properties, Environment environment, @Nullable SslBundles bundles,
			@Nullable DataRedisServer bean) {
		Binder binder = Binder.get(environment);
		ServerReader own = new ServerReader(OWN, properties, bundles);
		own.requireText("url", properties.url());
		own.requireText("host", properties.host());
		if (own.namesServer(binder)) {
			return own.read();
		}
		RedisServer ofBean = (bean != null) ? bean.find() : null;
		if (ofBean != null) {
			return ofBean;
		}
		RedisProperties ofSpring = binder.bindOrCreate(SPRING, RedisProperties.class);
		ServerReader spring = new ServerReader(SPRING, ofSpring, bundles);
		List<String> replicas = binder.bind(SPRING + ".masterreplica.nodes", Bindable.listOf(String.class))
			.orElse(List.of());
		spring.require(replicas.isEmpty(), "masterreplica.nodes", String.join(",", replicas), UNSUPPORTED);
		spring.requireText("url", ofSpring.url());
		// Spring Boot ignores the host otherwise.
		if (ofSpring.url() == null && ofSpring.sentinel() == null && ofSpring.cluster() == null) {
			spring.requireText("host", ofSpring.host());
		}
		return spring.read();
	}

	/**
	 * Returns the name of connections, by default that of Spring; {@code null} for none.
	 */
	static @Nullable String clientName(RedisProperties properties, Environment environment) {
		String own = properties.clientName();
		String name = (own != null) ? own : environment.getProperty(SPRING + ".client-name", "");
		new ServerReader((own != null) ? OWN : SPRING, properties, null).require(name.matches("[!-~]*"), "client-name",
				name, "Must contain only printable ASCII characters, and no spaces.");
		return name.isEmpty() ? null : name;
	}

	static void requireValidNumbers(RedisProperties properties) {
		ServerReader own = new ServerReader(OWN, properties, null);
		Duration timeout = properties.timeout();
		own.require(
				timeout.compareTo(RedisConnections.SHORTEST_TIME_BUDGET) >= 0
						&& timeout.compareTo(RedisConnections.LONGEST_TIME_BUDGET) <= 0,
				"timeout", timeout, "Must be from 2ms to 1h.");
		own.require(properties.connections() >= 1 && properties.connections() <= RedisConnections.MAX_CONNECTIONS,
				"connections", properties.connections(),
				"Must be from 1 to %s.".formatted(RedisConnections.MAX_CONNECTIONS));
		own.require(properties.maxWaiting() >= 1, "max-waiting", properties.maxWaiting(), "Must be at least 1.");
	}

	/** Returns whether a server is named; refuses what would have no effect beside it. */
	private boolean namesServer(Binder binder) {
		String url = this.properties.url();
		if (this.properties.cluster() != null) {
			require(this.properties.sentinel() == null, "cluster.nodes", this.properties.cluster().nodes(),
					"Cannot be combined with ratelimit.redis.sentinel: remove one of them.");
			requireNothing(binder, BESIDE.formatted("ratelimit.redis.cluster.nodes"), "url", "host", "port");
			require(this.properties.database() == 0, "database", this.properties.database(),
					"Must be 0, because a cluster has no other database.");
		}
		else if (this.properties.sentinel() != null) {
			requireNothing(binder, BESIDE.formatted("ratelimit.redis.sentinel"), "url", "host", "port");
		}
		else if (url != null) {
			URI uri = uri(url);
			String named = "ratelimit.redis.url (%s), which ".formatted(shown(url));
			requireNothing(binder, BESIDE.formatted(named + "contains the host and port"), "host", "port");
			if (holdsLogin(uri)) {
				requireNothing(binder, BESIDE.formatted(named + "contains a login"), "username", "password");
			}
			if (holdsDatabase(uri)) {
				requireNothing(binder, BESIDE.formatted(named + "contains a database"), "database");
			}
			if (JedisURIHelper.isRedisSSLScheme(uri) && Boolean.FALSE.equals(this.properties.ssl().enabled())) {
				requireNothing(binder, BESIDE.formatted(named + "requires encryption"), "ssl.enabled");
			}
		}
		else if (this.properties.host() == null) {
			requireNothing(binder, ALONE, "port", "username", "password", "credentials", "database", "ssl.enabled",
					"ssl.bundle", "ssl.server-name");
			return false;
		}
		if (this.properties.sentinel() != null && this.properties.sentinel().credentials() != null) {
			requireNothing(binder, BESIDE.formatted("ratelimit.redis.sentinel.credentials"), "sentinel.username",
					"sentinel.password");
		}
		if (this.properties.credentials() != null) {
			require(url == null || !holdsLogin(uri(url)), "credentials", this.properties.credentials(),
					BESIDE.formatted("the login that ratelimit.redis.url contains"));
			requireNothing(binder, BESIDE.formatted("ratelimit.redis.credentials"), "username", "password");
		}
		return true;
	}

	/** Refuses properties that would have no effect; empty ones count as not set. */
	private void requireNothing(Binder binder, String rule, String... names) {
		for (String name : names) {
			String property = this.prefix + "." + name;
			String value = String.join(",", binder.bind(property, Bindable.listOf(String.class)).orElse(List.of()));
			if (!value.isEmpty()) {
				throw new HiddenValueException(property, name.endsWith("password") ? "***" : shown(value), rule);
			}
		}
	}

	/** The client of the application knows its server, login and encryption. */
	static void requireNothingBesideClient(RedisProperties properties, Environment environment) {
		new ServerReader(OWN, properties, null).requireNothing(Binder.get(environment),
				BESIDE.formatted("ratelimit.redis.client"), "url", "host", "port", "username", "password",
				"credentials", "database", "ssl.enabled", "ssl.bundle", "ssl.server-name", "client-name",
				"sentinel.master", "sentinel.nodes", "sentinel.username", "sentinel.password", "sentinel.credentials",
				"cluster.nodes");
	}

	/** The URL of Spring Boot replaces its other properties. */
	private RedisServer read() {
		URI url = (this.properties.url() != null) ? uri(this.properties.url()) : null;
		boolean replaced = url != null && this.prefix.equals(SPRING);
		String username = replaced ? null : this.properties.username();
		String password = replaced ? null : this.properties.password();
		int database = replaced ? 0 : this.properties.database();
		int port = this.properties.port();
		String host = this.properties.host();
		String property = (host != null) ? this.prefix + ".host" : OWN + ".url";
		if (url != null) {
			property = this.prefix + ".url";
			host = url.getHost();
			port = (url.getPort() != -1) ? url.getPort() : port;
			database = holdsDatabase(url) ? JedisURIHelper.getDBIndex(url) : database;
			if (holdsLogin(url)) {
				String login = url.getRawUserInfo();
				int colon = login.indexOf(':');
				username = decoded(login.substring(0, Math.max(0, colon)));
				password = decoded(login.substring(colon + 1));
			}
		}
		require(isPort(port), "port", port, "Must be from 1 to 65535.");
		require(database >= 0, "database", database, "Must not be negative.");
		SslBundle ssl = ssl(url != null && JedisURIHelper.isRedisSSLScheme(url));
		RedisServer server = new RedisServer(new HostAndPort((host != null) ? host : "localhost", port), username,
				password, database, ssl, serverName(ssl), property);
		RedisProperties.Sentinel sentinel = this.properties.sentinel();
		if (sentinel != null) {
			require(sentinel.master() != null && !sentinel.master().isBlank(), "sentinel.master", sentinel.master(),
					"Must be the name of the master that the sentinels monitor.");
			return server.of(nodes("sentinel.nodes", sentinel.nodes(), "Must name the sentinels", "example.com:26379"),
					sentinel, this.prefix + ".sentinel.nodes");
		}
		if (this.properties.cluster() != null) {
			return server.of(nodes("cluster.nodes", this.properties.cluster().nodes(), "Must name nodes of the cluster",
					"example.com:6379"), null, this.prefix + ".cluster.nodes");
		}
		return server;
	}

	private static boolean holdsLogin(URI url) {
		String login = url.getRawUserInfo();
		return login != null && !login.isEmpty() && !login.equals(":");
	}

	private static boolean holdsDatabase(URI url) {
		return url.getPath().length() > 1;
	}

	private static @Nullable String decoded(String part) {
		return part.isEmpty() ? null : StringUtils.uriDecode(part, StandardCharsets.UTF_8);
	}

	/** Parameters of the URL of Spring Boot have no effect there either. */
	private URI uri(String url) {
		try {
			URI uri = URI.create(url);
			String parameters = uri.getRawQuery();
			boolean valid = uri.getHost() != null && (uri.getPort() == -1 || isPort(uri.getPort()))
					&& DATABASE.matcher(uri.getPath()).matches() && uri.getRawFragment() == null
					&& (JedisURIHelper.isRedisScheme(uri) || JedisURIHelper.isRedisSSLScheme(uri));
			if (valid && parameters == null) {
				return uri;
			}
			// What precedes @ may be the rest of a password.
			if (valid && this.prefix.equals(SPRING) && !parameters.contains("@")) {
				log.warn(shown(url), "The parameters of {}.url ({}) have no effect", SPRING, shown(url));
				return uri;
			}
		}
		catch (IllegalArgumentException ex) {
			// Reported below, without the password that it may contain.
		}
		throw new HiddenValueException(this.prefix + ".url", shown(url), URL_RULE.formatted(this.prefix));
	}

	/** Returns a URL without what may be a password. */
	private static String shown(String url) {
		return url.replaceFirst("^([a-z]*:/*)?.*@", "$1***@")
			.replaceFirst("^([a-z]*:/*[^:/?#@\\[]*):(?![0-9]*([/?#]|$)|//)[^@]*$", "$1:***")
			.replaceFirst("\\?.*", "?***");
	}

	private List<HostAndPort> nodes(String name, List<String> nodes, String rule, String example) {
		require(!nodes.isEmpty(), name, nodes, "%s, such as %s.".formatted(rule, example));
		return nodes.stream().map((node) -> node(name, node, example)).toList();
	}

	private HostAndPort node(String name, String node, String example) {
		Matcher matcher = NODE.matcher(node);
		if (matcher.matches() && isPort(Integer.parseInt(matcher.group(2)))) {
			String host = matcher.group(1).replaceAll("^\\[(.*)]$", "$1");
			boolean ipv6 = new IPAddressString(host).isIPv6();
			if (ipv6 || host.matches("[^:\\[]+")) {
				return new HostAndPort(ipv6 ? "[" + host + "]" : host, Integer.parseInt(matcher.group(2)));
			}
		}
		throw new InvalidConfigurationPropertyValueException(this.prefix + "." + name, node,
				"Must be a host and a port, such as " + example + ".");
	}

	private static boolean isPort(int port) {
		return port > 0 && port <= 65_535;
	}

	/** A bundle switches encryption on, unless it is switched off explicitly. */
	private @Nullable SslBundle ssl(boolean required) {
		String name = this.properties.ssl().bundle();
		Boolean enabled = this.properties.ssl().enabled();
		if (name == null) {
			return (required || Boolean.TRUE.equals(enabled)) ? SslBundle.systemDefault() : null;
		}
		if (Boolean.FALSE.equals(enabled) && !required) {
			require(this.prefix.equals(SPRING), "ssl.bundle", name,
					"Has an effect only with encryption, which ratelimit.redis.ssl.enabled switches off.");
			return null;
		}
		try {
			if (this.bundles != null) {
				return this.bundles.getBundle(name);
			}
		}
		catch (NoSuchSslBundleException ex) {
			// Reported below, with the property.
		}
		throw new InvalidConfigurationPropertyValueException(this.prefix + ".ssl.bundle", name,
				"Must be the name of an SSL bundle below spring.ssl.bundle.");
	}

	private @Nullable SNIHostName serverName(@Nullable SslBundle ssl) {
		String name = this.properties.ssl().serverName();
		if (name == null || this.prefix.equals(SPRING)) {
			return null;
		}
		require(ssl != null, "ssl.server-name", name,
				"Has an effect only with encryption: set ratelimit.redis.ssl.enabled or ratelimit.redis.ssl.bundle.");
		try {
			return new SNIHostName(name);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidConfigurationPropertyValueException(OWN + ".ssl.server-name", name,
					"Must be a host name, as the certificates have it.");
		}
	}

	/** Refuses an empty value, because it is not clear which server is meant. */
	private void requireText(String name, @Nullable String value) {
		require(value == null || !value.isBlank(), name, value, EMPTY);
	}

	private void require(boolean valid, String name, @Nullable Object value, String rule) {
		if (!valid) {
			throw new InvalidConfigurationPropertyValueException(this.prefix + "." + name, value, rule);
		}
	}

}
