package io.github.ratelimit.test;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;

/**
 * Answers a login at once, and what comes after it byte by byte, without an end. It
 * breaks connections much later than any test waits.
 */
public final class TricklingServer implements AutoCloseable {

	/** A line without an end. */
	private static final byte[] LINE = { '+' };

	/** The beginning of a long message of TLS. */
	private static final byte[] HANDSHAKE = { 22, 3, 3, 63, -1 };

	private static final Duration END = Duration.ofSeconds(20);

	private final ServerSocket server;

	private final boolean encrypted;

	/**
	 * Starts the server.
	 * @param encrypted whether it is the handshake of TLS that has no end
	 */
	public TricklingServer(boolean encrypted) throws IOException {
		this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		this.encrypted = encrypted;
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
				start(() -> serve(socket));
			}
		}
		catch (IOException ex) {
			// The server was closed.
		}
	}

	private void serve(Socket accepted) {
		try (Socket socket = accepted) {
			InputStream in = new BufferedInputStream(socket.getInputStream());
			if (this.encrypted) {
				in.read();
			}
			else {
				answerLogin(in, socket.getOutputStream());
			}
			trickle(socket, in, this.encrypted ? HANDSHAKE : LINE);
		}
		catch (IOException ex) {
			// The client has gone, as it should.
		}
	}

	/** Returns after the first command that is not part of a login. */
	private static void answerLogin(InputStream in, OutputStream out) throws IOException {
		for (String name = readCommand(in); isLogin(name); name = readCommand(in)) {
			out.write((name.equals("PING") ? "+PONG\r\n" : "+OK\r\n").getBytes(StandardCharsets.US_ASCII));
		}
	}

	private static boolean isLogin(String name) {
		return switch (name) {
			case "PING", "AUTH", "SELECT", "CLIENT" -> true;
			default -> false;
		};
	}

	/** Reads parts with their lengths before them, and returns the first. */
	private static String readCommand(InputStream in) throws IOException {
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

	private static void trickle(Socket socket, InputStream in, byte[] beginning) throws IOException {
		OutputStream out = socket.getOutputStream();
		out.write(beginning);
		// Only to pause, since nothing comes after the commands.
		socket.setSoTimeout(20);
		long end = System.nanoTime() + END.toNanos();
		while (System.nanoTime() < end) {
			out.write('x');
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

	@Override
	public void close() throws IOException {
		this.server.close();
	}

}
