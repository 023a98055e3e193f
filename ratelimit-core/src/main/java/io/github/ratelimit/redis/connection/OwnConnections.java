package io.github.ratelimit.redis.connection;

import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.github.ratelimit.redis.connection.WatchedSocket.Watch;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisSocketFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.util.IOUtils;

/**
 * Makes connections to a server whose address may change. A connection to a former
 * address is not used again, even if it is still open.
 */
public final class OwnConnections extends ConnectionSource {

	private final Supplier<HostAndPort> address;

	private final Runnable close;

	private final JedisClientConfig config;

	private OwnConnections(Supplier<HostAndPort> address, Runnable close, JedisClientConfig config) {
		if (config.getAuthXManager() != null) {
			throw new IllegalArgumentException(
					"Invalid configuration: tokens are not supported, hand over a client of your own.");
		}
		this.address = address;
		this.close = close;
		this.config = config;
	}

	/**
	 * Connects to one server.
	 * @param config how to log in, and to encrypt; the connection time-out is for each
	 * address of the host, and for the login; the socket time-out is for each step of
	 * encryption only
	 */
	public static OwnConnections to(HostAndPort server, JedisClientConfig config) {
		return new OwnConnections(() -> server, () -> {
		}, config);
	}

	/**
	 * Connects to the current master. The sentinels are asked when something is to be
	 * sent.
	 */
	public static OwnConnections toMaster(String name, Set<HostAndPort> sentinels, JedisClientConfig sentinelConfig,
			JedisClientConfig config) {
		SentinelMaster master = new SentinelMaster(name, sentinels, sentinelConfig);
		return new OwnConnections(master::get, master::close, config);
	}

	@Override
	Link connect(boolean checked, Watch watch, Duration budget) {
		HostAndPort server = this.address.get();
		Socket socket = socket(server);
		try {
			int millis = this.config.getConnectionTimeoutMillis();
			long patience = TimeUnit.MILLISECONDS.toNanos((millis > 0) ? millis : Protocol.DEFAULT_TIMEOUT);
			WatchedSocket watched = new WatchedSocket(socket, watch, budget, System.nanoTime() + patience);
			// Jedis cannot reconnect, because it gets the same socket, which is closed
			// then.
			Link link = new Link(new Connection(() -> watched, this.config), watched,
					() -> server.equals(this.address.get()), () -> {
					});
			link.ping();
			watched.loggedIn();
			return link;
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
			throw (ex.getCause() == null && reasons.length > 0)
					? new JedisConnectionException("Failed to connect to " + server, reasons[0]) : ex;
		}
	}

	@Override
	void close() {
		this.close.run();
	}

}
