package io.github.ratelimit.redis;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/**
 * Something that is no Redis, such as a proxy with a fault: it gives the same answer to
 * every script, whatever the script is.
 */
final class AnsweringServer implements AutoCloseable {

	private final ServerSocket socket;

	private final String answer;

	/**
	 * Starts the server.
	 * @param answer the answer, as it goes over the wire
	 */
	AnsweringServer(String answer) {
		this.answer = answer;
		try {
			this.socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		Thread thread = new Thread(this::accept, "answering-server");
		thread.setDaemon(true);
		thread.start();
	}

	URI uri() {
		return URI.create("redis://127.0.0.1:" + this.socket.getLocalPort());
	}

	private void accept() {
		while (true) {
			try (Socket connection = this.socket.accept()) {
				InputStream in = new BufferedInputStream(connection.getInputStream());
				for (String line = readLine(in); !line.isEmpty(); line = readLine(in)) {
					String text = isScript(in, Integer.parseInt(line.substring(1))) ? this.answer : "+OK\r\n";
					connection.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
				}
			}
			catch (IOException ex) {
				if (this.socket.isClosed()) {
					return;
				}
			}
		}
	}

	/** Reads a command: parts with their lengths before them. */
	private static boolean isScript(InputStream in, int parts) throws IOException {
		String name = "";
		for (int i = 0; i < parts; i++) {
			int length = Integer.parseInt(readLine(in).substring(1));
			String part = new String(in.readNBytes(length + 2), StandardCharsets.UTF_8);
			name = (i == 0) ? part.strip() : name;
		}
		return "EVALSHA".equals(name);
	}

	/** Reads a line; empty at the end of the connection. */
	private static String readLine(InputStream in) throws IOException {
		StringBuilder line = new StringBuilder();
		for (int c = in.read(); c != -1 && c != '\n'; c = in.read()) {
			line.append((char) c);
		}
		return line.toString().strip();
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
