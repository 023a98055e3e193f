package io.github.ratelimit.redis.connection;

import java.io.Serial;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.github.ratelimit.redis.connection.WatchedSocket.Watch;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisSocketFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisCredentials;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.util.IOUtils;

/**
 * Makes connections to a server whose address may change; those to a former one are not
 * used again.
 */
public final class OwnConnections extends ConnectionSource {

	private final Address address;

	private final JedisClientConfig config;

	private final Login login;

	OwnConnections(Address address, JedisClientConfig config) {
		this(address, config, new Login(config));
	}

	OwnConnections(Address address, JedisClientConfig config, Login login) {
		this.address = address;
		this.config = config;
		this.login = login;
	}

	/**
	 * Connects to one server. The connection time-out is for each address of the host,
	 * and for the login; the socket time-out is for each step of encryption only.
	 */
	public static OwnConnections to(HostAndPort server, JedisClientConfig config) {
		return new OwnConnections((patience) -> server, config);
	}

	/** Connects to the master that sentinels name. */
	public static OwnConnections toMaster(String name, Set<HostAndPort> sentinels, JedisClientConfig sentinelConfig,
			JedisClientConfig config) {
		return new OwnConnections(new SentinelMaster(name, sentinels, sentinelConfig), config);
	}

	@Override
	Link connect(long rest, Watch watch, Duration budget) {
		HostAndPort server = this.address.get(patience(budget, 0));
		Socket socket = socket(server);
		try {
			// Not before, so that no source is asked again and again while Redis is gone.
			RedisCredentials credentials = this.login.ask();
			int millis = this.config.getConnectionTimeoutMillis();
			long patience = TimeUnit.MILLISECONDS.toNanos((millis > 0) ? millis : Protocol.DEFAULT_TIMEOUT);
			WatchedSocket watched = new WatchedSocket(socket, watch, budget);
			watched.answerUntil(System.nanoTime() + patience);
			// Jedis cannot reconnect, because it gets the same socket, which is closed
			// then.
			Link link = new Link(new Connection(() -> watched, this.login.config(() -> credentials)), watched,
					(time) -> server.equals(this.address.get(time)), () -> {
					})
				.renewedBy(this.login, credentials);
			link.ping();
			watched.answerUntil(null);
			return link;
		}
		catch (JedisAccessControlException ex) {
			IOUtils.closeQuietly(socket);
			String text = String.valueOf(ex.getMessage());
			throw text.startsWith("WRONGPASS")
					? new JedisAccessControlException(text + " Are the name and the password of the user right now?")
					: ex;
		}
		catch (Throwable ex) {
			IOUtils.closeQuietly(socket);
			throw ex;
		}
	}

	/** Jedis hides the causes, one for each address, in suppressed exceptions. */
	private Socket socket(HostAndPort server) {
		try {
			return new DefaultJedisSocketFactory(server, this.config).createSocket();
		}
		catch (JedisConnectionException ex) {
			Throwable[] reasons = ex.getSuppressed();
			throw (ex.getCause() == null && reasons.length > 0) ? new UnreachableException(server, reasons[0]) : ex;
		}
	}

	@Override
	void leave() {
		this.address.leave();
	}

	@Override
	boolean awaitsLogin(Thread thread) {
		return this.login.isAskedBy(thread) || this.address.awaitsLogin();
	}

	@Override
	void disconnect(long end) {
		this.login.awaitRenewal(end);
	}

	@Override
	void close() {
		this.login.close();
		this.address.close();
	}

	/** Where a server is now. */
	@FunctionalInterface
	interface Address {

		/**
		 * @param patience how many nanoseconds there are to look it up again
		 */
		HostAndPort get(long patience);

		/** Returns whether it is unknown because the source of a login is asked. */
		default boolean awaitsLogin() {
			return false;
		}

		/** Forgets it, because the server is not the right one. */
		default void leave() {
		}

		/** Ends what looks it up. */
		default void close() {
		}

	}

	/**
	 * Thrown if no connection can be made; names the address, which the cause does not.
	 */
	public static final class UnreachableException extends JedisConnectionException {

		@Serial
		private static final long serialVersionUID = 1L;

		private UnreachableException(HostAndPort server, Throwable cause) {
			super("Failed to connect to " + server, cause);
		}

	}

}
