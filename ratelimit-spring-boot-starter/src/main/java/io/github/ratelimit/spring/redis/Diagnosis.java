package io.github.ratelimit.spring.redis;

import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

import javax.net.ssl.SSLException;

import io.github.ratelimit.StoreException;
import io.github.ratelimit.redis.RedisErrorKind;
import io.github.ratelimit.spring.config.HiddenValueException;
import io.github.ratelimit.spring.config.RedisProperties.Sentinel;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.BuilderFactory;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Finds out why a server cannot be used, on a connection of its own, and which property
 * is the way out.
 */
final class Diagnosis {

	private static final String RUNNING = "Is Redis running, and is %s right?";

	private static final String FORBIDDEN = "The command %s is forbidden to %s, or renamed: allow %s, or set ratelimit.redis.scripting to false.";

	private static final String ERROR = "Redis is there, but answers with an error.";

	private static final String NO_ANSWER = "This is no answer of Redis, but an error of the application or the limiter.";

	/** Stands for the client of the application, whose server only it knows. */
	private static final RedisServer CLIENT = new RedisServer(new HostAndPort("", 0), null, null, 0, null, null,
			"ratelimit.redis.client");

	/** No script has it. */
	private static final String NO_HASH = "0".repeat(40);

	private final RedisServer server;

	Diagnosis(RedisServer server) {
		this.server = server;
	}

	/**
	 * Refuses a single server that is a node of a cluster, which may keep only some of
	 * the counts, or a sentinel.
	 * @throws HiddenValueException if the server says so
	 * @throws JedisConnectionException if the source of the login takes too long
	 */
	void requireSingleServer() {
		if (this.server.sentinel() != null || this.server.cluster()) {
			return;
		}
		String found = null;
		try (Connection connection = this.server.connect(this.server.address())) {
			found = askForMode(connection);
		}
		catch (RuntimeException ex) {
			// Others are reported after the start.
			if (isUnknownLogin(ex)) {
				throw ex;
			}
		}
		if (found != null) {
			throw new HiddenValueException(this.server.property(), this.server.toString(), found);
		}
	}

	/** Returns what to do about a failure, in one sentence. */
	static String of(StoreException failure, @Nullable RedisServer server) {
		String found = (server != null && !isUnknownLogin(failure))
				? new Diagnosis(server).ask(server.nodes(), server.sentinel()) : null;
		return (found != null) ? found
				: advice(RedisErrorKind.of(failure), failure, (server != null) ? server : CLIENT);
	}

	/** Returns what to do about a failure of a kind, without asking the server. */
	static String advice(RedisErrorKind kind, @Nullable RedisServer server) {
		return advice(kind, null, (server != null) ? server : CLIENT);
	}

	/**
	 * Returns what the first server that answers says is wrong, or why the first that
	 * does not answer cannot be connected to.
	 */
	private @Nullable String ask(List<HostAndPort> servers, @Nullable Sentinel sentinel) {
		String found = null;
		for (HostAndPort address : servers) {
			try {
				return (sentinel != null) ? askSentinel(address, sentinel) : ask(address);
			}
			catch (RuntimeException ex) {
				// Only a bean that knows the login throws others.
				RedisErrorKind kind = (ex instanceof JedisException jedis) ? kind(jedis) : RedisErrorKind.WRONGPASS;
				found = (found != null) ? found : advice(kind, ex, this.server);
				if (isUnknownLogin(ex)) {
					// It would hang again.
					return found;
				}
			}
		}
		return found;
	}

	/** Returns what is wrong with the master, or why the sentinel does not name it. */
	private @Nullable String askSentinel(HostAndPort address, Sentinel sentinel) {
		try (Connection connection = this.server.connectSentinel(address)) {
			Object master = connection.executeCommand(
					new CommandArguments(Command.SENTINEL).add("GET-MASTER-ADDR-BY-NAME").add(sentinel.master()));
			if (master instanceof List<?> parts) {
				List<String> text = BuilderFactory.STRING_LIST.build(parts);
				return ask(List.of(new HostAndPort(text.get(0), Integer.parseInt(text.get(1)))), null);
			}
			return "The sentinel %s does not know the master '%s': is %s right?".formatted(address, sentinel.master(),
					this.server.property("sentinel.master"));
		}
		catch (RuntimeException ex) {
			if (ex instanceof JedisConnectionException) {
				throw ex;
			}
			return "The sentinel %s refuses to name the master: are %s and the login (%s) right?"
				.formatted(address, this.server.property("sentinel.nodes"), (sentinel.credentials() != null)
						? this.server.property("sentinel.credentials")
						: this.server.property("sentinel.username") + ", " + this.server.property("sentinel.password"));
		}
	}

	private @Nullable String ask(HostAndPort address) {
		try (Connection connection = this.server.connect(address)) {
			String found = askForMode(connection);
			if (found != null) {
				return found;
			}
			if (isRefused(connection, new CommandArguments(Command.TIME))) {
				return FORBIDDEN.formatted("TIME, which scripts need,", this.server.user(), "it");
			}
			return isRefused(connection, new CommandArguments(Command.EVALSHA).add(NO_HASH).add("0"))
					? FORBIDDEN.formatted("EVALSHA", this.server.user(), "it and EVAL") : null;
		}
	}

	/** Returns what is wrong with the mode of a server; {@code null} if nothing is. */
	private @Nullable String askForMode(Connection connection) {
		String named = this.server.property();
		return switch (mode(connection)) {
			case "cluster" -> this.server.cluster() ? null
					: "The server is a node of a cluster, which may have only some of the counts: set %s instead of %s."
						.formatted(this.server.property("cluster.nodes"), named);
			case "sentinel" -> "The server is a sentinel, which has no counts: set %s and %s instead of %s."
				.formatted(this.server.property("sentinel.master"), this.server.property("sentinel.nodes"), named);
			case "standalone" -> this.server.cluster() ? "The server is no node of a cluster: set %s instead of %s."
				.formatted(this.server.property("url"), named) : null;
			default -> null;
		};
	}

	/** Returns the mode that a server says it is in; empty if it does not. */
	private static String mode(Connection connection) {
		try {
			return String.valueOf(BuilderFactory.ENCODED_OBJECT_MAP
				.build(connection.executeCommand(new CommandArguments(Command.HELLO)))
				.get("mode"));
		}
		catch (JedisDataException ex) {
			return "";
		}
	}

	/** Other errors, such as that of an unknown script, are no refusal of the command. */
	private static boolean isRefused(Connection connection, CommandArguments command) {
		try {
			connection.executeCommand(command);
			return false;
		}
		catch (JedisDataException ex) {
			return kind(ex) == RedisErrorKind.NOPERM || kind(ex) == RedisErrorKind.ERROR_REPLY;
		}
	}

	private static RedisErrorKind kind(JedisException failure) {
		return RedisErrorKind.of(new StoreException("Redis failed", failure));
	}

	private static String advice(RedisErrorKind kind, @Nullable Throwable failure, RedisServer server) {
		String named = server.property();
		if (isUnknownLogin(failure)) {
			return "Does %s wait for something that does not answer? Give its client a time-out."
				.formatted(server.sources());
		}
		if (has(failure, UnknownHostException.class)) {
			return "There is no host of that name: is %s right?".formatted(named);
		}
		if (has(failure, CertPathBuilderException.class) || has(failure, CertPathValidatorException.class)) {
			return "The certificate of the server is not trusted: does the bundle in %s hold its authority?"
				.formatted(server.property("ssl.bundle"));
		}
		if (has(failure, CertificateException.class)) {
			return "The certificate of the server is not for this address: name a host of the certificate in %s%s."
				.formatted(named, (server.cluster() || server.sentinel() != null)
						? ", or in ratelimit.redis.ssl.server-name if servers announce addresses" : "");
		}
		if (has(failure, SSLException.class)) {
			return "Encryption failed: does the server expect it on this port (%s, or rediss:// in a URL), and does it expect a certificate (%s)?"
				.formatted(server.property("ssl.enabled"), server.property("ssl.bundle"));
		}
		return switch (kind) {
			case NOAUTH ->
				"Redis requires a login: is its password configured in %s?".formatted(server.property("password"));
			case WRONGPASS -> (server.logins() != null && server.logins().bean() != null)
					? "Does the bean '%s' (ratelimit.redis.credentials) know the login?"
						.formatted(server.logins().bean())
					: "Are the name and the password of %s right (%s, %s)?%s".formatted(server.user(),
							server.property("username"), server.property("password"),
							named.endsWith(".url")
									? " In a URL, special characters must be percent-encoded, such as %40 for @ and %25 for %."
									: "");
			case NOPERM -> "Does %s have the permissions that docs/redis.md lists?".formatted(server.user());
			case MASTERDOWN, READONLY -> "The server is a replica: name its master in %s, or its sentinels in %s."
				.formatted(named, server.property("sentinel.nodes"));
			case TIMEOUT, OVERLOAD ->
				"Redis does not answer in time: is %s right, does it expect encryption (%s), and is ratelimit.redis.timeout long enough?"
					.formatted(named, server.property("ssl.enabled"));
			case WRONG_REPLY -> "Is it a Redis server that %s names?".formatted(named);
			case ERROR_REPLY -> (server.database() != 0)
					? "Is there a database %s (%s)?".formatted(server.database(), server.property("database")) : ERROR;
			case OOM, NOREPLICAS, CLUSTERDOWN, MISCONF, BUSY, LOADING, NOSCRIPT, WRONGTYPE -> ERROR;
			case CONNECTION -> has(failure, ConnectException.class) || has(failure, NoRouteToHostException.class)
					? RUNNING.formatted(named)
					: "The server ends the connection: is %s right, and does it expect encryption (%s)?"
						.formatted(named, server.property("ssl.enabled"));
			case NODE -> RUNNING.formatted(named);
			case OTHER -> NO_ANSWER;
		};
	}

	/** Only the source of a login fails like this. */
	private static boolean isUnknownLogin(@Nullable Throwable failure) {
		return has(failure, TimeoutException.class);
	}

	private static boolean has(@Nullable Throwable failure, Class<? extends Exception> type) {
		return failure != null && (type.isInstance(failure) || has(failure.getCause(), type)
				|| Stream.of(failure.getSuppressed()).anyMatch((each) -> has(each, type)));
	}

}
