package io.github.ratelimit.spring.config;

import java.time.Duration;
import java.util.List;

import io.github.ratelimit.redis.RedisConnections;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties below {@code ratelimit.redis}: the Redis server of the limiter.
 *
 * @param url URL of the server, such as redis://user:password@example.com:6379/0; cannot
 * be combined with host and port, nor with username, password or database if the URL
 * contains them
 * @param host host name of the server
 * @param port port of the server
 * @param username login user name
 * @param password login password
 * @param credentials name of a RedisCredentialsProvider bean, or of another supplier of
 * RedisCredentials, that is asked for the login at each connection, and once a minute
 * while connections are used; instead of username and password
 * @param database number of the database
 * @param ssl encryption
 * @param scripting whether scripts may be used; without scripts only some algorithms are
 * supported
 * @param timeout maximum time for a decision. After that, on-store-failure applies if
 * Redis fails; if it is only busy, the request is limited in memory, or denied with
 * on-store-failure: deny
 * @param client name of a UnifiedJedis bean whose connections the limiter borrows; if not
 * set, the limiter opens its own; cannot be combined with a server, a login, encryption
 * or client-name
 * @param clientName name of the connections in CLIENT LIST
 * @param connections number of connections to each server; waiting decisions share them
 * @param maxWaiting maximum number of decisions that wait for a server; further requests
 * are limited in memory, or denied with on-store-failure: deny
 * @param sentinel sentinels that find the server, instead of url, host and port
 * @param cluster a cluster, instead of url, host, port and database
 * @param failFast whether the application fails to start if Redis cannot be used
 * @since 0.1
 */
public record RedisProperties(@Nullable String url, @Nullable String host, @DefaultValue("6379") int port,
		@Nullable String username, @Nullable String password, @Nullable String credentials,
		@DefaultValue("0") int database, @DefaultValue Ssl ssl, @DefaultValue("true") boolean scripting,
		@DefaultValue("100ms") Duration timeout, @Nullable String client, @Nullable String clientName,
		@DefaultValue("" + RedisConnections.DEFAULT_CONNECTIONS) int connections,
		@DefaultValue("" + RedisConnections.DEFAULT_MAX_WAITING) int maxWaiting, @Nullable Sentinel sentinel,
		@Nullable Cluster cluster, @DefaultValue("false") boolean failFast) {

	/** Empty strings, as from unset variables, count as not set. */
	public RedisProperties {
		username = orNull(username);
		password = orNull(password);
		credentials = orNull(credentials);
		client = orNull(client);
		clientName = orNull(clientName);
	}

	private static @Nullable String orNull(@Nullable String text) {
		return (text == null || text.isEmpty()) ? null : text;
	}

	/**
	 * Encryption. The certificate of the server must be that of its host name.
	 *
	 * @param enabled whether to encrypt the connection; default: true if there is a
	 * bundle
	 * @param bundle name of the SSL bundle with the trusted certificates and the client
	 * certificate
	 * @param serverName host name in the certificates of all servers, where a cluster or
	 * sentinels announce addresses; default: that of each server
	 */
	public record Ssl(@Nullable Boolean enabled, @Nullable String bundle, @Nullable String serverName) {

		/** Empty names count as not set. */
		public Ssl {
			bundle = orNull(bundle);
			serverName = orNull(serverName);
		}

	}

	/**
	 * Sentinels, which find the current master.
	 *
	 * @param master name of the master
	 * @param nodes the sentinels, such as example.com:26379
	 * @param username login user name for the sentinels
	 * @param password login password for the sentinels
	 * @param credentials name of a RedisCredentialsProvider bean, or of another supplier
	 * of RedisCredentials, that is asked for the login at the sentinels with each of
	 * their connections; instead of username and password
	 */
	public record Sentinel(@Nullable String master, @DefaultValue List<String> nodes, @Nullable String username,
			@Nullable String password, @Nullable String credentials) {

		/** An empty login counts as not set. */
		public Sentinel {
			username = orNull(username);
			password = orNull(password);
			credentials = orNull(credentials);
		}

	}

	/**
	 * A cluster.
	 *
	 * @param nodes some nodes of the cluster, such as example.com:6379; they are asked
	 * for the others
	 */
	public record Cluster(@DefaultValue List<String> nodes) {

	}

}
