package io.github.ratelimit.spring.redis;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;

import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.spring.config.RedisProperties.Sentinel;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.DefaultRedisCredentials;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisCredentials;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

import org.springframework.boot.context.properties.PropertyMapper;
import org.springframework.boot.ssl.SslBundle;

/**
 * The address of Redis and the login.
 *
 * @param nodes the server, the sentinels, or nodes of a cluster
 * @param sentinel the master to ask the sentinels for; {@code null} without sentinels
 * @param cluster whether it is a cluster
 * @param ssl encryption; {@code null} for none
 * @param serverName the host name in all certificates; {@code null} for that of each
 * server
 * @param property the property that names the server
 * @param logins whom connections ask for the login; {@code null} for what is known here
 */
record RedisServer(List<HostAndPort> nodes, @Nullable Sentinel sentinel, boolean cluster, @Nullable String username,
		@Nullable String password, int database, @Nullable SslBundle ssl, @Nullable SNIHostName serverName,
		String property, @Nullable Logins logins) {

	/**
	 * @param bean the name of the bean that knows the login at the server; {@code null}
	 * for none
	 */
	record Logins(@Nullable String bean, Supplier<RedisCredentials> server, Supplier<RedisCredentials> sentinels) {
	}

	/** Timeout for each address of a host; no request waits for it. */
	private static final int CONNECTION_TIMEOUT_MILLIS = 1000;

	/** How long the login may take that is needed to find out what is wrong. */
	private static final Duration LOGIN_TIMEOUT = Duration.ofSeconds(10);

	RedisServer(HostAndPort address, @Nullable String username, @Nullable String password, int database,
			@Nullable SslBundle ssl, @Nullable SNIHostName serverName, String property) {
		this(List.of(address), null, false, username, password, database, ssl, serverName, property, null);
	}

	/** Returns sentinels, or nodes of a cluster, with the same login and encryption. */
	RedisServer of(List<HostAndPort> nodes, @Nullable Sentinel sentinel, String property) {
		return new RedisServer(nodes, sentinel, sentinel == null, this.username, this.password,
				(sentinel != null) ? this.database : 0, this.ssl, this.serverName, property, null);
	}

	RedisServer with(Logins logins) {
		return new RedisServer(this.nodes, this.sentinel, this.cluster, this.username, this.password, this.database,
				this.ssl, this.serverName, this.property, logins);
	}

	/** Returns the login as it was when this was read. */
	RedisCredentials login() {
		return new DefaultRedisCredentials(this.username, this.password);
	}

	RedisCredentials sentinelLogin() {
		return new DefaultRedisCredentials((this.sentinel != null) ? this.sentinel.username() : null,
				(this.sentinel != null) ? this.sentinel.password() : null);
	}

	/**
	 * @param clientName the name of the connections; {@code null} for none
	 */
	RedisConnections.Builder connections(@Nullable String clientName) {
		RedisConnections.Builder builder = this.cluster ? RedisConnections.cluster(Set.copyOf(this.nodes))
				: (this.sentinel == null) ? RedisConnections.server(address())
						: RedisConnections.sentinel(Objects.requireNonNull(this.sentinel.master()),
								Set.copyOf(this.nodes), sentinelConfig(clientName));
		return builder.config(config(clientName));
	}

	/**
	 * Connects to a server that counts and logs in, to ask what no decision asks.
	 * @throws JedisConnectionException with a {@link TimeoutException} if the source of
	 * the login takes too long
	 */
	Connection connect(HostAndPort address) {
		return connect(address, config(null));
	}

	/** Connects to a sentinel, as to a server that counts. */
	Connection connectSentinel(HostAndPort address) {
		return connect(address, sentinelConfig(null));
	}

	/** Interrupts a source of the login that hangs; all else has a time-out. */
	private static Connection connect(HostAndPort address, JedisClientConfig config) {
		Thread thread = Thread.currentThread();
		CompletableFuture<Void> connecting = new CompletableFuture<>();
		CompletableFuture<Void> interruption = connecting.orTimeout(LOGIN_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS)
			.handle((connected, late) -> {
				if (late != null) {
					thread.interrupt();
				}
				return null;
			});
		try {
			return new Connection(address, config);
		}
		catch (RuntimeException ex) {
			// Jedis has time-outs, and exceptions of its own.
			if (connecting.complete(null) || ex instanceof JedisException) {
				throw ex;
			}
		}
		finally {
			connecting.complete(null);
			if (connecting.isCompletedExceptionally()) {
				interruption.join();
				Thread.interrupted();
			}
		}
		String text = "The source of the login has not answered for " + LOGIN_TIMEOUT;
		throw new JedisConnectionException(text, new TimeoutException(text));
	}

	private JedisClientConfig config(@Nullable String clientName) {
		return config(clientName, (this.logins != null) ? this.logins.server() : this::login).database(this.database)
			.build();
	}

	private JedisClientConfig sentinelConfig(@Nullable String clientName) {
		return config(clientName, (this.logins != null) ? this.logins.sentinels() : this::sentinelLogin).build();
	}

	/** New connections do not send the library and its version, to save round trips. */
	private DefaultJedisClientConfig.Builder config(@Nullable String clientName, Supplier<RedisCredentials> login) {
		DefaultJedisClientConfig.Builder config = DefaultJedisClientConfig.builder()
			.clientName(clientName)
			.credentialsProvider(login)
			.connectionTimeoutMillis(CONNECTION_TIMEOUT_MILLIS)
			.clientSetInfoConfig(ClientSetInfoConfig.DISABLED);
		if (this.ssl != null) {
			SSLContext context = this.ssl.createSslContext();
			SSLParameters parameters = context.getDefaultSSLParameters();
			PropertyMapper map = PropertyMapper.get();
			map.from(this.ssl.getOptions()::getCiphers).to(parameters::setCipherSuites);
			map.from(this.ssl.getOptions()::getEnabledProtocols).to(parameters::setProtocols);
			// The host name in the certificate is verified, which Jedis does not do by
			// default.
			parameters.setEndpointIdentificationAlgorithm("HTTPS");
			if (this.serverName != null) {
				parameters.setServerNames(List.of(this.serverName));
			}
			config.ssl(true).sslSocketFactory(context.getSocketFactory()).sslParameters(parameters);
		}
		return config;
	}

	/** Returns the full name of a property beside the one that names the server. */
	String property(String name) {
		return (this.property.startsWith(ServerReader.SPRING) ? ServerReader.SPRING : ServerReader.OWN) + "." + name;
	}

	/** Returns the user as messages name it. */
	String user() {
		return (this.logins != null && this.logins.bean() != null)
				? "the user of the bean '%s'".formatted(this.logins.bean())
				: "the user '%s'".formatted((this.username != null) ? this.username : "default");
	}

	/** Returns what knows the logins, as messages name it. */
	String sources() {
		String beans = Stream
			.of(source("credentials", (this.logins != null) ? this.logins.bean() : null),
					source("sentinel.credentials", (this.sentinel != null) ? this.sentinel.credentials() : null))
			.filter((source) -> !source.isEmpty())
			.collect(Collectors.joining(" or "));
		return beans.isEmpty() ? "the source of %s".formatted(property("password")) : beans;
	}

	private static String source(String property, @Nullable String bean) {
		return (bean != null) ? "the bean '%s' (%s.%s)".formatted(bean, ServerReader.OWN, property) : "";
	}

	/** Includes encryption, because a mismatch is often not evident from an error. */
	String connection() {
		return "%s, %s TLS".formatted(this, (this.ssl != null) ? "with" : "without");
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
