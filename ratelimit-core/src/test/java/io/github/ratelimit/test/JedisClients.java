package io.github.ratelimit.test;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;

import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisCluster;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.providers.PooledConnectionProvider;

/**
 * Clients of whichever version of Jedis the tests run with: before 7.2 there are no
 * {@link RedisClient} and {@link RedisClusterClient}, from 8.0 on there is no
 * {@code JedisPooled}.
 */
public final class JedisClients {

	/** Name of the system property with the version of Jedis that was asked for. */
	public static final String PROPERTY = "ratelimit.test.jedis";

	/** Waits for answers however busy the machine is. */
	static final JedisClientConfig PATIENT = DefaultJedisClientConfig.builder().timeoutMillis(60_000).build();

	private static final boolean NEW = exists("redis.clients.jedis.RedisClient");

	static {
		String version = version();
		String asked = System.getProperty(PROPERTY, version);
		if (!asked.equals(version)) {
			throw new IllegalStateException("Invalid %s (%s): Jedis %s is used.".formatted(PROPERTY, asked, version));
		}
	}

	private JedisClients() {
	}

	public static String version() {
		Properties properties = new Properties();
		try (InputStream resource = UnifiedJedis.class.getResourceAsStream("pom.properties")) {
			properties.load(Objects.requireNonNull(resource));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return properties.getProperty("version");
	}

	public static boolean areNew() {
		return NEW;
	}

	public static UnifiedJedis create(URI uri) {
		return NEW ? New.create(uri) : old(new Class<?>[] { URI.class }, uri);
	}

	public static UnifiedJedis create(String host, int port) {
		return create(new HostAndPort(host, port));
	}

	public static UnifiedJedis create(HostAndPort address) {
		return create(address, PATIENT);
	}

	public static UnifiedJedis create(HostAndPort address, JedisClientConfig config) {
		return NEW ? New.create(address, config)
				: old(new Class<?>[] { HostAndPort.class, JedisClientConfig.class }, address, config);
	}

	public static UnifiedJedis create(PooledConnectionProvider connections) {
		return NEW ? New.create(connections) : old(new Class<?>[] { PooledConnectionProvider.class }, connections);
	}

	public static UnifiedJedis ofCluster(Set<HostAndPort> nodes, JedisClientConfig config) {
		return NEW ? New.ofCluster(nodes, config) : jedisCluster(nodes, config);
	}

	@SuppressWarnings("deprecation")
	private static UnifiedJedis jedisCluster(Set<HostAndPort> nodes, JedisClientConfig config) {
		return new JedisCluster(nodes, config);
	}

	private static UnifiedJedis old(Class<?>[] types, Object... arguments) {
		try {
			return (UnifiedJedis) Class.forName("redis.clients.jedis.JedisPooled")
				.getConstructor(types)
				.newInstance(arguments);
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException("There is no JedisPooled in Jedis " + version(), ex);
		}
	}

	private static boolean exists(String type) {
		try {
			Class.forName(type);
			return true;
		}
		catch (ClassNotFoundException ex) {
			return false;
		}
	}

	/** Loaded only where these clients are. */
	private static final class New {

		static UnifiedJedis create(URI uri) {
			return RedisClient.create(uri);
		}

		static UnifiedJedis create(HostAndPort address, JedisClientConfig config) {
			return RedisClient.builder().hostAndPort(address).clientConfig(config).build();
		}

		static UnifiedJedis ofCluster(Set<HostAndPort> nodes, JedisClientConfig config) {
			return RedisClusterClient.builder().nodes(nodes).clientConfig(config).build();
		}

		static UnifiedJedis create(PooledConnectionProvider connections) {
			return RedisClient.builder().connectionProvider(connections).build();
		}

	}

}
