package io.github.ratelimit.test;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A proxy before a Redis that loses replies, cuts them, delays them, or breaks all
 * connections. Redis has then done what it was asked for, and the client does not learn
 * it. As a firewall does, it can also forget connections, and as a name does, lead new
 * ones to another Redis.
 */
public final class FaultyProxy implements AutoCloseable {

	private volatile URI redis;

	private final ServerSocket socket;

	private final ExecutorService threads = Executors.newCachedThreadPool((task) -> {
		Thread thread = new Thread(task, "faulty-proxy");
		thread.setDaemon(true);
		return thread;
	});

	private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

	private final AtomicInteger toPass = new AtomicInteger();

	private final AtomicInteger toLose = new AtomicInteger();

	private final AtomicInteger toCut = new AtomicInteger();

	private volatile Duration delay = Duration.ZERO;

	/** Sockets whose bytes go nowhere. */
	private final Set<Socket> forgotten = ConcurrentHashMap.newKeySet();

	private final AtomicInteger connections = new AtomicInteger();

	private final Future<?> accepting;

	/**
	 * Starts the proxy.
	 * @param redis the server behind it
	 */
	public FaultyProxy(URI redis) {
		this.redis = redis;
		try {
			this.socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.accepting = this.threads.submit(this::accept);
	}

	public URI uri() {
		return URI.create("redis://127.0.0.1:" + this.socket.getLocalPort());
	}

	/** Loses the next replies, with their connections. */
	public void lose(int replies) {
		this.toLose.set(replies);
	}

	/** Loses one of the next replies, with its connection. */
	public void loseAfter(int others) {
		this.toPass.set(others);
		this.toLose.set(1);
	}

	/** Returns how many replies are still to be lost. */
	public int toLose() {
		return this.toLose.get();
	}

	/** Breaks off the next replies in their middle, with their connections. */
	public void cut(int replies) {
		this.toCut.set(replies);
	}

	/** Returns how many replies are still to be cut. */
	public int toCut() {
		return this.toCut.get();
	}

	/** Delays every reply from now on. */
	public void delay(Duration time) {
		this.delay = time;
	}

	/** Leads new connections to another server, and keeps those that there are. */
	public void leadTo(URI other) {
		this.redis = other;
	}

	/** Swallows what comes over the connections that there are, which stay open. */
	public void forgetConnections() {
		this.forgotten.addAll(this.sockets);
	}

	/** Returns how many connections were made. */
	public int connections() {
		return this.connections.get();
	}

	/** Takes no more connections, and keeps those that there are. */
	public void refuseConnections() {
		close(this.socket);
		try {
			// The port is open until nothing waits for a connection to it.
			this.accepting.get();
		}
		catch (InterruptedException | ExecutionException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Breaks all connections that there are. */
	public void breakConnections() {
		this.sockets.forEach(FaultyProxy::close);
	}

	private void accept() {
		while (!this.socket.isClosed()) {
			try {
				Socket client = this.socket.accept();
				this.connections.incrementAndGet();
				this.sockets.add(client);
				Socket server = connect(client);
				if (server != null) {
					this.sockets.add(server);
					this.threads.execute(() -> forward(client, server, false));
					this.threads.execute(() -> forward(server, client, true));
				}
				if (this.socket.isClosed()) {
					// Perhaps after those that there were have been broken.
					close(client);
				}
			}
			catch (IOException ex) {
				// The proxy was closed.
			}
		}
		this.threads.shutdown();
	}

	private Socket connect(Socket client) {
		try {
			return new Socket(this.redis.getHost(), this.redis.getPort());
		}
		catch (IOException ex) {
			// Redis is down, and so is this for the client.
			close(client);
			this.sockets.remove(client);
			return null;
		}
	}

	private void forward(Socket from, Socket to, boolean replies) {
		try (from; to; InputStream in = from.getInputStream()) {
			OutputStream out = to.getOutputStream();
			byte[] buffer = new byte[64 * 1024];
			for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
				if (this.forgotten.contains(from)) {
					continue;
				}
				if (replies && !takeOne(this.toPass) && takeOne(this.toLose)) {
					return;
				}
				if (replies && takeOne(this.toCut)) {
					out.write(buffer, 0, length / 2);
					return;
				}
				if (replies && !this.delay.isZero()) {
					LockSupport.parkNanos(this.delay.toNanos());
				}
				out.write(buffer, 0, length);
			}
		}
		catch (IOException ex) {
			// The other end was closed.
		}
		finally {
			this.sockets.remove(from);
			this.sockets.remove(to);
			this.forgotten.remove(from);
		}
	}

	private static boolean takeOne(AtomicInteger left) {
		return left.getAndUpdate((number) -> Math.max(0, number - 1)) > 0;
	}

	private static void close(Closeable socket) {
		try {
			socket.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		refuseConnections();
		breakConnections();
	}

}
