package io.github.ratelimit.redis.connection;

import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
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
	Link connect(boolean checked, Watch watch, Duration budget) {
		HostAndPort server = this.address.get();
		Socket socket = socket(server);
		try {
			int millis = this.config.getConnectionTimeoutMillis();
			long patience = TimeUnit.MILLISECONDS.toNanos((millis > 0) ? millis : Protocol.DEFAULT_TIMEOUT);
			WatchedSocket watched = new WatchedSocket(socket, watch, budget, System.nanoTime() + patience);
			Link link = new Link(connection(server, watched), watched, () -> server.equals(this.address.get()), () -> {
			});
			if (checked) {
				link.ping();
			}
			watched.loggedIn();
			return link;
		}
		catch (RuntimeException | Error ex) {
			IOUtils.closeQuietly(socket);
			throw ex;
		}
	}

	/** Jedis tells why only beside its exception, once for each address. */
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

	/** Logs in. Jedis would use a second socket without that. */
	private Connection connection(HostAndPort server, Socket socket) {
		AtomicReference<Socket> first = new AtomicReference<>(socket);
		return new Connection(() -> {
			Socket next = first.getAndSet(null);
			if (next == null) {
				throw new JedisConnectionException("The connection to " + server + " was closed");
			}
			return next;
		}, this.config);
	}

	@Override
	void close() {
		this.close.run();
	}

}
