package io.github.ratelimit.redis;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;

import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.HostAndPortMapper;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.SSLSocketWrapper;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * Makes sockets that connect and read no longer than until the {@link Deadline} of the
 * thread. Encryption reads through them as well, so that it has no time of its own.
 */
final class DeadlineSocketFactory implements JedisSocketFactory {

	private final Supplier<HostAndPort> address;

	private final JedisClientConfig config;

	private final int budgetMillis;

	DeadlineSocketFactory(Supplier<HostAndPort> address, JedisClientConfig config, Duration budget) {
		this.address = address;
		this.config = config;
		this.budgetMillis = Math.toIntExact(budget.toMillis());
	}

	@Override
	public Socket createSocket() {
		HostAndPort server = mapped(this.address.get());
		try {
			Socket socket = connect(server);
			try {
				return this.config.isSsl() ? encrypted(socket, server) : socket;
			}
			catch (IOException | RuntimeException ex) {
				closeQuietly(socket, ex);
				throw ex;
			}
		}
		catch (IOException ex) {
			throw new JedisConnectionException("Failed to connect to " + server, ex);
		}
	}

	private HostAndPort mapped(HostAndPort server) {
		HostAndPortMapper mapper = this.config.getHostAndPortMapper();
		HostAndPort mapped = (mapper != null) ? mapper.getHostAndPort(server) : null;
		return (mapped != null) ? mapped : server;
	}

	/** To the first of the addresses of the host that answers. */
	private Socket connect(HostAndPort server) throws IOException {
		List<InetAddress> hosts = Arrays.asList(InetAddress.getAllByName(server.getHost()));
		Collections.shuffle(hosts);
		IOException failure = null;
		for (InetAddress host : hosts) {
			Socket socket = new DeadlineSocket(this.budgetMillis);
			try {
				socket.setKeepAlive(true);
				socket.setTcpNoDelay(true);
				// A connection that failed is closed at once, without a goodbye.
				socket.setSoLinger(true, 0);
				socket.connect(new InetSocketAddress(host, server.getPort()),
						Deadline.remainingMillis(this.budgetMillis));
				return socket;
			}
			catch (IOException ex) {
				closeQuietly(socket, ex);
				if (failure == null || ex instanceof SocketTimeoutException) {
					failure = ex;
				}
			}
			catch (RuntimeException ex) {
				closeQuietly(socket, ex);
				throw ex;
			}
		}
		throw (failure != null) ? failure : new IOException("No address of " + server.getHost());
	}

	private Socket encrypted(Socket socket, HostAndPort server) throws IOException {
		SSLSocketFactory factory = (this.config.getSslSocketFactory() != null) ? this.config.getSslSocketFactory()
				: (SSLSocketFactory) SSLSocketFactory.getDefault();
		SSLSocket encrypted = (SSLSocket) factory.createSocket(socket, server.getHost(), server.getPort(), true);
		if (this.config.getSslParameters() != null) {
			encrypted.setSSLParameters(this.config.getSslParameters());
		}
		if (this.config.getHostnameVerifier() != null
				&& !this.config.getHostnameVerifier().verify(server.getHost(), encrypted.getSession())) {
			throw new IOException("The certificate is not one of " + server.getHost());
		}
		return new SSLSocketWrapper(encrypted, socket);
	}

	private static void closeQuietly(Socket socket, Exception reason) {
		try {
			socket.close();
		}
		catch (IOException ex) {
			reason.addSuppressed(ex);
		}
	}

	/** A socket that reads no longer than until the deadline of the thread. */
	private static final class DeadlineSocket extends Socket {

		private final int otherwiseMillis;

		DeadlineSocket(int otherwiseMillis) {
			this.otherwiseMillis = otherwiseMillis;
		}

		private void limitWaiting() throws IOException {
			setSoTimeout(Deadline.remainingMillis(this.otherwiseMillis));
		}

		@Override
		public InputStream getInputStream() throws IOException {
			return new FilterInputStream(super.getInputStream()) {

				@Override
				public int read() throws IOException {
					limitWaiting();
					return super.read();
				}

				@Override
				public int read(byte[] target, int offset, int length) throws IOException {
					limitWaiting();
					return super.read(target, offset, length);
				}

			};
		}

	}

}
