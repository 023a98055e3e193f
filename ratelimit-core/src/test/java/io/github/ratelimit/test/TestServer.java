package io.github.ratelimit.test;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * Something that takes connections, and need not answer as Redis does.
 */
public abstract class TestServer implements AutoCloseable {

	private final ServerSocket socket;

	private @Nullable Thread accepting;

	protected TestServer() {
		try {
			this.socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Takes connections from now on. */
	protected final void start() {
		this.accepting = run(this::accept);
	}

	protected static Thread run(Runnable task) {
		Thread thread = new Thread(task, "test-server");
		thread.setDaemon(true);
		thread.start();
		return thread;
	}

	public final int port() {
		return this.socket.getLocalPort();
	}

	public final URI uri() {
		return URI.create("redis://127.0.0.1:" + port());
	}

	protected final boolean isClosed() {
		return this.socket.isClosed();
	}

	private void accept() {
		while (!isClosed()) {
			try {
				Socket connection = this.socket.accept();
				run(() -> serve(connection));
			}
			catch (IOException ex) {
				// Closed.
			}
		}
	}

	private void serve(Socket accepted) {
		try (Socket connection = accepted) {
			serve(connection, new BufferedInputStream(connection.getInputStream()));
		}
		catch (IOException | UncheckedIOException ex) {
			// The client has closed it, or a test breaks it.
		}
	}

	/** Serves a connection, which is closed afterwards. */
	protected abstract void serve(Socket connection, InputStream in) throws IOException;

	/**
	 * Reads a command: parts with their lengths before them.
	 * @return its name; empty at the end of the connection
	 */
	protected static String readCommand(InputStream in) throws IOException {
		int parts = readNumber(in);
		String name = "";
		for (int i = 0; i < parts; i++) {
			byte[] part = in.readNBytes(readNumber(in) + 2);
			name = (i == 0) ? new String(part, StandardCharsets.US_ASCII).strip() : name;
		}
		return name.toUpperCase(Locale.ROOT);
	}

	/** Reads a line with a number after one other character. */
	private static int readNumber(InputStream in) throws IOException {
		in.read();
		int number = 0;
		for (int c = in.read(); c >= '0'; c = in.read()) {
			number = 10 * number + c - '0';
		}
		in.read();
		return number;
	}

	/** Takes no more connections. */
	@Override
	public void close() {
		try {
			this.socket.close();
			// The port is open until nothing waits for a connection to it.
			Objects.requireNonNull(this.accepting).join();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
