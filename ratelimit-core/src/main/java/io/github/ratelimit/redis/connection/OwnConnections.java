package io.github.ratelimit.redis.connection;

import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.HostAndPortMapper;
import redis.clients.jedis.JedisClientConfig;

/**
 * Connections to a server whose address may change. One to a former address is not used
 * again, even if it is still open.
 */
final class OwnConnections extends ConnectionSource {

	/** Returns the address, and waits for it no longer than it is told. */
	private final Function<Duration, HostAndPort> address;

	private final Runnable close;

	private final JedisClientConfig config;

	private final Duration patience;

	private final OwnSockets.Addresses addresses;

	/** The address that has answered, and is tried first. */
	private volatile @Nullable InetAddress favourite;

	OwnConnections(Function<Duration, HostAndPort> address, Runnable close, JedisClientConfig config) {
		this(address, close, config, InetAddress::getAllByName);
	}

	OwnConnections(Function<Duration, HostAndPort> address, Runnable close, JedisClientConfig config,
			OwnSockets.Addresses addresses) {
		this.address = address;
		this.close = close;
		this.config = config;
		this.addresses = addresses;
		this.patience = Duration.ofMillis(Math.max(1, config.getConnectionTimeoutMillis()));
	}

	/**
	 * Checks how to log in.
	 * @throws IllegalArgumentException if only a client of the application could
	 */
	static JedisClientConfig checked(JedisClientConfig config) {
		if (config.getAuthXManager() != null) {
			throw new IllegalArgumentException(
					"Invalid configuration: tokens are not supported, hand over a client of your own.");
		}
		return config;
	}

	@Override
	Link connect(boolean checked) {
		long deadline = System.nanoTime() + this.patience.toNanos();
		HostAndPort server = this.address.apply(this.patience);
		OwnSockets sockets = new OwnSockets(mapped(server), this.config, this::addresses, deadline);
		boolean made = false;
		try {
			Link link = new OwnLink(new Connection(sockets, this.config), sockets.socket(), server);
			this.favourite = sockets.socket().getInetAddress();
			made = true;
			return checked ? checked(link) : link;
		}
		finally {
			if (!made) {
				sockets.close();
			}
		}
	}

	private InetAddress[] addresses(String host) throws IOException {
		List<InetAddress> addresses = Arrays.asList(this.addresses.of(host));
		int known = addresses.indexOf(this.favourite);
		if (known > 0) {
			Collections.swap(addresses, 0, known);
		}
		return addresses.toArray(InetAddress[]::new);
	}

	private HostAndPort mapped(HostAndPort server) {
		HostAndPortMapper mapper = this.config.getHostAndPortMapper();
		HostAndPort mapped = (mapper != null) ? mapper.getHostAndPort(server) : null;
		return (mapped != null) ? mapped : server;
	}

	@Override
	void close() {
		this.close.run();
	}

	private final class OwnLink extends Link {

		private final WatchedSocket socket;

		private final HostAndPort server;

		OwnLink(Connection connection, WatchedSocket socket, HostAndPort server) {
			super(connection);
			this.socket = socket;
			this.server = server;
		}

		@Override
		void doWatch(WatchedSocket.Watch watch, Duration budget) throws IOException {
			this.socket.watch(watch, budget);
		}

		@Override
		void begin() {
			this.socket.begin();
		}

		@Override
		boolean isUsable(boolean rested) {
			return this.server.equals(OwnConnections.this.address.apply(Duration.ZERO))
					&& !(rested && this.socket.isForsaken());
		}

		@Override
		boolean isBorrowed() {
			return false;
		}

		@Override
		void release() {
			if (connection().isBroken()) {
				// What is left to be sent would be sent first.
				cut();
			}
			super.release();
		}

		@Override
		void cut() {
			// Not through its encryption, which might wait for the one who reads.
			OwnSockets.close(this.socket);
		}

	}

}
