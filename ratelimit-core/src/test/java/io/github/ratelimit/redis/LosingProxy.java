package io.github.ratelimit.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A proxy before Redis that can lose replies: Redis has done what it was asked for, and
 * the client learns only that its connection is broken.
 */
final class LosingProxy implements AutoCloseable {

	private final URI redis;

	private final ServerSocket socket;

	private final ExecutorService threads = Executors.newCachedThreadPool((task) -> {
		Thread thread = new Thread(task, "losing-proxy");
		thread.setDaemon(true);
		return thread;
	});

	private final AtomicInteger toLose = new AtomicInteger();

	/**
	 * Starts the proxy.
	 * @param redis the server behind it
	 */
	LosingProxy(URI redis) {
		this.redis = redis;
		try {
			this.socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.threads.execute(this::accept);
	}

	URI uri() {
		return URI.create("redis://127.0.0.1:" + this.socket.getLocalPort());
	}

	/** Loses the next replies. */
	void lose(int replies) {
		this.toLose.set(replies);
	}

	/** Returns how many replies are still to be lost. */
	int toLose() {
		return this.toLose.get();
	}

	private void accept() {
		try {
			while (true) {
				Socket client = this.socket.accept();
				Socket server = new Socket(this.redis.getHost(), this.redis.getPort());
				this.threads.execute(() -> forward(client, server, false));
				this.threads.execute(() -> forward(server, client, true));
			}
		}
		catch (IOException ex) {
			this.threads.shutdown();
		}
	}

	private void forward(Socket from, Socket to, boolean replies) {
		try (from; to; InputStream in = from.getInputStream()) {
			byte[] buffer = new byte[64 * 1024];
			for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
				if (replies && this.toLose.getAndUpdate((left) -> Math.max(0, left - 1)) > 0) {
					return;
				}
				to.getOutputStream().write(buffer, 0, length);
			}
		}
		catch (IOException ex) {
			// The other end was closed.
		}
	}

	@Override
	public void close() {
		try {
			this.socket.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
