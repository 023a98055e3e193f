package io.github.ratelimit.spring.policy;

import java.time.Duration;
import java.util.List;

import io.github.ratelimit.redis.RedisConnections;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties below {@code ratelimit.redis}: the server that counts are kept on.
 *
 * @param url URL of the server, such as redis://user:password@example.com:6379/0; instead
 * of host and port, which stop the start beside it, as username and password do if it
 * holds a login, and database if it holds one
 * @param host host name of the server
 * @param port port of the server
 * @param username login user name
 * @param password login password
 * @param database number of the database
 * @param ssl encryption
 * @param scripting whether scripts may be used; without them only some algorithms are
 * supported
 * @param timeout time budget of a decision, whatever Redis does; after it, the
 * on-store-failure of the policies counts
 * @param client name of a bean of type UnifiedJedis whose connections are borrowed;
 * without it the limiter has connections of its own
 * @param clientName what the server knows the connections by, in CLIENT LIST
 * @param connections number of connections to each server; decisions that wait share them
 * @param maxWaiting how many decisions may wait for a server; what is beyond that is
 * decided by this instance alone
 * @param sentinel sentinels that know which server it is, instead of url, host and port
 * @param cluster a cluster, instead of url, host, port and database
 * @since 0.1
 */
public record RedisProperties(@Nullable String url, @Nullable String host, @DefaultValue("6379") int port,
		@Nullable String username, @Nullable String password, @DefaultValue("0") int database, @DefaultValue Ssl ssl,
		@DefaultValue("true") boolean scripting, @DefaultValue("100ms") Duration timeout, @Nullable String client,
		@Nullable String clientName, @DefaultValue("" + RedisConnections.DEFAULT_CONNECTIONS) int connections,
		@DefaultValue("" + RedisConnections.DEFAULT_MAX_WAITING) int maxWaiting, @Nullable Sentinel sentinel,
		@Nullable Cluster cluster) {

	/** Empty texts, such as those of variables that are not set, ask for nothing. */
	public RedisProperties {
		username = orNull(username);
		password = orNull(password);
		client = orNull(client);
		clientName = orNull(clientName);
	}

	private static @Nullable String orNull(@Nullable String text) {
		return (text == null || text.isEmpty()) ? null : text;
	}

	/**
	 * Encryption. The certificate of the server must be that of its host name.
	 *
	 * @param enabled whether to encrypt the connection; by default if there is a bundle
	 * @param bundle name of the SSL bundle that says whom to trust, and which certificate
	 * to show
	 */
	public record Ssl(@Nullable Boolean enabled, @Nullable String bundle) {

		/** An empty name is none. */
		public Ssl {
			bundle = orNull(bundle);
		}

	}

	/**
	 * Sentinels, which know the server that is the master.
	 *
	 * @param master name of the master
	 * @param nodes the sentinels, each such as example.com:26379
	 * @param username user name to log in to the sentinels with
	 * @param password password to log in to the sentinels with
	 */
	public record Sentinel(@Nullable String master, @DefaultValue List<String> nodes, @Nullable String username,
			@Nullable String password) {

		/** An empty login is none. */
		public Sentinel {
			username = orNull(username);
			password = orNull(password);
		}

	}

	/**
	 * A cluster, whose nodes know which of them has what.
	 *
	 * @param nodes some nodes of the cluster, each such as example.com:6379; the others
	 * are found by them
	 */
	public record Cluster(@DefaultValue List<String> nodes) {

	}

}
