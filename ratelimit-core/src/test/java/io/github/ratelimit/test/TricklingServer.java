package io.github.ratelimit.test;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;

/**
 * Answers byte by byte, and never comes to an end. It breaks connections much later than
 * any test waits.
 */
public final class TricklingServer implements AutoCloseable {

	/** A line without an end. */
	private static final byte[] LINE = { '+' };

	/** The beginning of a long message of TLS. */
	private static final byte[] HANDSHAKE = { 22, 3, 3, 63, -1 };

	private static final Duration END = Duration.ofSeconds(20);

	private final ServerSocket server;

	private final byte[] beginning;

	public TricklingServer(boolean encrypted) throws IOException {
		this.server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
		this.beginning = encrypted ? HANDSHAKE : LINE;
		start(this::accept);
	}

	private static void start(Runnable task) {
		Thread thread = new Thread(task, "trickling-server");
		thread.setDaemon(true);
		thread.start();
	}

	public int port() {
		return this.server.getLocalPort();
	}

	private void accept() {
		try {
			while (true) {
				Socket socket = this.server.accept();
				start(() -> answerSlowly(socket));
			}
		}
		catch (IOException ex) {
			// The server was closed.
		}
	}

	private void answerSlowly(Socket accepted) {
		try (Socket socket = accepted) {
			InputStream in = socket.getInputStream();
			in.read();
			OutputStream out = socket.getOutputStream();
			out.write(this.beginning);
			long end = System.nanoTime() + END.toNanos();
			while (System.nanoTime() < end) {
				out.write('x');
				out.flush();
				// Only to pause, since nothing comes after the command.
				socket.setSoTimeout(20);
				try {
					while (in.read() >= 0) {
						continue;
					}
					return;
				}
				catch (SocketTimeoutException ex) {
					continue;
				}
			}
		}
		catch (IOException ex) {
			// The client has gone, as it should.
		}
	}

	@Override
	public void close() throws IOException {
		this.server.close();
	}

}
