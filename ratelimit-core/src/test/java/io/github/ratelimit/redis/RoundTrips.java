package io.github.ratelimit.redis;

import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.util.HashMap;
import java.util.Map;

import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.TestRedis;
import redis.clients.jedis.ConnectionFactory;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.providers.PooledConnectionProvider;
import redis.clients.jedis.util.JedisURIHelper;

/**
 * A client of the test's server that counts how often it speaks after it has listened.
 * For one thread.
 */
final class RoundTrips implements AutoCloseable {

	private final PooledConnectionProvider connections;

	private final UnifiedJedis client;

	private int count;

	private boolean listened = true;

	private int last = Integer.MAX_VALUE;

	private final Map<Integer, Runnable> befores = new HashMap<>();

	RoundTrips() {
		DefaultJedisClientConfig config = DefaultJedisClientConfig.builder()
			.user(JedisURIHelper.getUser(TestRedis.uri()))
			.password(JedisURIHelper.getPassword(TestRedis.uri()))
			.build();
		JedisSocketFactory sockets = () -> connect();
		this.connections = new PooledConnectionProvider(new ConnectionFactory(sockets, config));
		this.client = JedisClients.create(this.connections);
		this.client.ping();
		count();
	}

	private Socket connect() {
		try {
			return new CountingSocket();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** The client that is counted. */
	UnifiedJedis client() {
		return this.client;
	}

	/** How many connections are in use. */
	int busyConnections() {
		return this.connections.getPool().getNumActive();
	}

	/** Returns the number since the last call. */
	int count() {
		int count = this.count;
		this.count = 0;
		return count;
	}

	/** Lets the connection break after some more of them. */
	void breakAfter(int more) {
		this.last = this.count + more;
	}

	/** Does something when one of those that follow is about to begin. */
	void before(int which, Runnable task) {
		this.befores.put(this.count + which, task);
	}

	private void begin() {
		this.count++;
		Runnable before = this.befores.remove(this.count);
		if (before != null) {
			before.run();
		}
	}

	@Override
	public void close() {
		this.client.close();
	}

	private final class CountingSocket extends Socket {

		private CountingSocket() throws IOException {
			super(TestRedis.uri().getHost(), TestRedis.uri().getPort());
		}

		@Override
		public InputStream getInputStream() throws IOException {
			return new FilterInputStream(super.getInputStream()) {

				@Override
				public int read(byte[] bytes, int offset, int length) throws IOException {
					RoundTrips.this.listened = true;
					return super.read(bytes, offset, length);
				}

			};
		}

		@Override
		public OutputStream getOutputStream() throws IOException {
			return new FilterOutputStream(super.getOutputStream()) {

				@Override
				public void write(byte[] bytes, int offset, int length) throws IOException {
					if (RoundTrips.this.listened) {
						RoundTrips.this.listened = false;
						begin();
					}
					if (RoundTrips.this.count > RoundTrips.this.last) {
						throw new IOException("Broken by the test");
					}
					this.out.write(bytes, offset, length);
				}

			};
		}

	}

}
