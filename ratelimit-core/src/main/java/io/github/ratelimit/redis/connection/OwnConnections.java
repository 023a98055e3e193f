package io.github.ratelimit.redis.connection;

import java.net.Socket;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisSocketFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.util.IOUtils;

/**
 * Connections to a server whose address may change. One to a former address is not used
 * again, even if it is still open.
 */
final class OwnConnections extends ConnectionSource {

	private final Supplier<HostAndPort> address;

	private final Runnable close;

	private final JedisClientConfig config;

	OwnConnections(Supplier<HostAndPort> address, Runnable close, JedisClientConfig config) {
		this.address = address;
		this.close = close;
		this.config = config;
	}

	@Override
	Link connect(boolean checked) {
		HostAndPort server = this.address.get();
		Sockets sockets = new Sockets(server, this.config);
		try {
			Connection connection = new Connection(sockets, this.config);
			Link link = Link.own(connection, sockets.made(), () -> server.equals(this.address.get()));
			if (checked) {
				link.ping();
			}
			return link;
		}
		catch (RuntimeException | Error ex) {
			IOUtils.closeQuietly(sockets.made);
			throw ex;
		}
	}

	@Override
	void close() {
		this.close.run();
	}

	/** Makes one socket. A second one would not be logged in. */
	private static final class Sockets implements JedisSocketFactory {

		private final HostAndPort server;

		private final JedisClientConfig config;

		private @Nullable WatchedSocket made;

		Sockets(HostAndPort server, JedisClientConfig config) {
			this.server = server;
			this.config = config;
		}

		@Override
		public Socket createSocket() {
			if (this.made != null) {
				throw new JedisConnectionException("The connection to " + this.server + " was closed");
			}
			Socket socket = connect();
			int millis = this.config.getConnectionTimeoutMillis();
			long patience = TimeUnit.MILLISECONDS.toNanos((millis > 0) ? millis : Protocol.DEFAULT_TIMEOUT);
			this.made = new WatchedSocket(socket, System.nanoTime() + patience);
			return this.made;
		}

		/** Jedis tells why only beside its exception, once for each address. */
		private Socket connect() {
			try {
				return new DefaultJedisSocketFactory(this.server, this.config).createSocket();
			}
			catch (JedisConnectionException ex) {
				Throwable[] reasons = ex.getSuppressed();
				throw (ex.getCause() == null && reasons.length > 0)
						? new JedisConnectionException("Failed to connect to " + this.server, reasons[0]) : ex;
			}
		}

		WatchedSocket made() {
			if (this.made == null) {
				throw new IllegalStateException("Not connected");
			}
			return this.made;
		}

	}

}
