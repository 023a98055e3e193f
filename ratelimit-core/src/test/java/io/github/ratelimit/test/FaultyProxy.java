package io.github.ratelimit.test;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A proxy before a Redis that loses replies, cuts them, delays them, or breaks all
 * connections. Redis has then done what it was asked for, and the client does not learn
 * it. As a firewall does, it can also forget connections, and as a name does, lead new
 * ones to another Redis.
 */
public final class FaultyProxy extends TestServer {

	private volatile URI redis;

	private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

	private final AtomicInteger toPass = new AtomicInteger();

	private final AtomicInteger toLose = new AtomicInteger();

	private final AtomicInteger toCut = new AtomicInteger();

	private volatile Duration delay = Duration.ZERO;

	/** Sockets whose bytes go nowhere. */
	private final Set<Socket> forgotten = ConcurrentHashMap.newKeySet();

	private final AtomicInteger connections = new AtomicInteger();

	public FaultyProxy(URI redis) {
		this.redis = redis;
		start();
	}

	public void lose(int replies) {
		this.toLose.set(replies);
	}

	/** Loses one of the next replies, with its connection. */
	public void loseAfter(int others) {
		this.toPass.set(others);
		this.toLose.set(1);
	}

	public int toLose() {
		return this.toLose.get();
	}

	/** Breaks off the next replies in their middle, with their connections. */
	public void cut(int replies) {
		this.toCut.set(replies);
	}

	public int toCut() {
		return this.toCut.get();
	}

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

	public int connections() {
		return this.connections.get();
	}

	/** Takes no more connections, and keeps those that there are. */
	public void refuseConnections() {
		super.close();
	}

	public void breakConnections() {
		this.sockets.forEach(FaultyProxy::close);
	}

	/** While Redis is down, so is this for the client. */
	@Override
	protected void serve(Socket client, InputStream in) throws IOException {
		this.connections.incrementAndGet();
		this.sockets.add(client);
		try (Socket server = new Socket(this.redis.getHost(), this.redis.getPort())) {
			this.sockets.add(server);
			if (!isClosed()) {
				run(() -> forward(server, client, true));
				forward(client, server, false);
			}
		}
		finally {
			this.sockets.remove(client);
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

	private static void close(Socket socket) {
		try {
			socket.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		super.close();
		breakConnections();
	}

}
