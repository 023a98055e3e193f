package io.github.ratelimit.redis.connection;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.security.GeneralSecurityException;

import javax.net.ssl.HostnameVerifier;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.SSLSocketWrapper;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * Makes the {@link WatchedSocket} of one connection, which is not connected a second
 * time: it would not be logged in. Each address of the host gets its share of the time.
 */
final class OwnSockets implements JedisSocketFactory {

	private final HostAndPort server;

	private final JedisClientConfig config;

	private final Addresses addresses;

	private final long deadline;

	private @Nullable WatchedSocket socket;

	OwnSockets(HostAndPort server, JedisClientConfig config, Addresses addresses, long deadline) {
		this.server = server;
		this.config = config;
		this.addresses = addresses;
		this.deadline = deadline;
	}

	/** The socket that was made. */
	WatchedSocket socket() {
		if (this.socket == null) {
			throw new IllegalStateException("Not connected");
		}
		return this.socket;
	}

	/** Closes what was made. */
	void close() {
		if (this.socket != null) {
			close(this.socket);
		}
	}

	static void close(Socket socket) {
		try {
			socket.close();
		}
		catch (IOException ex) {
			// It is of no use any more.
		}
	}

	@Override
	public Socket createSocket() {
		if (this.socket != null) {
			throw new JedisConnectionException("The connection to " + this.server + " was closed");
		}
		try {
			WatchedSocket plain = connect();
			this.socket = plain;
			try {
				return encrypted(plain);
			}
			catch (IOException | GeneralSecurityException | RuntimeException ex) {
				close(plain);
				throw ex;
			}
		}
		catch (IOException | GeneralSecurityException ex) {
			throw new JedisConnectionException("Failed to connect to " + this.server, ex);
		}
	}

	/** To the first of the addresses of the host that answers. */
	private WatchedSocket connect() throws IOException {
		InetAddress[] addresses = this.addresses.of(this.server.getHost());
		IOException failure = new IOException("No address of " + this.server.getHost());
		for (int i = 0; i < addresses.length; i++) {
			WatchedSocket socket = new WatchedSocket(this.deadline);
			try {
				socket.setKeepAlive(true);
				socket.setTcpNoDelay(true);
				// A connection that failed is closed at once, without a goodbye.
				socket.setSoLinger(true, 0);
				int share = WatchedSocket.remainingMillis(this.deadline) / (addresses.length - i);
				socket.connect(new InetSocketAddress(addresses[i], this.server.getPort()), Math.max(1, share));
				return socket;
			}
			catch (IOException ex) {
				close(socket);
				ex.addSuppressed(failure);
				failure = ex;
			}
		}
		throw failure;
	}

	private Socket encrypted(Socket plain) throws IOException, GeneralSecurityException {
		SslOptions options = this.config.getSslOptions();
		if (options == null && !this.config.isSsl()) {
			return plain;
		}
		SSLSocketFactory factory = (options != null) ? options.createSslContext().getSocketFactory()
				: this.config.getSslSocketFactory();
		SSLParameters parameters = (options != null) ? options.getSslParameters() : this.config.getSslParameters();
		if (factory == null) {
			factory = (SSLSocketFactory) SSLSocketFactory.getDefault();
		}
		String host = this.server.getHost();
		SSLSocket encrypted = (SSLSocket) factory.createSocket(plain, host, this.server.getPort(), true);
		if (parameters != null) {
			encrypted.setSSLParameters(parameters);
		}
		HostnameVerifier verifier = this.config.getHostnameVerifier();
		if (verifier != null && !verifier.verify(host, encrypted.getSession())) {
			throw new IOException("The certificate is not one of " + host);
		}
		return new SSLSocketWrapper(encrypted, plain);
	}

	/** Looks up the addresses of a host. */
	interface Addresses {

		/** Returns those that are to be tried first in front. */
		InetAddress[] of(String host) throws IOException;

	}

}
