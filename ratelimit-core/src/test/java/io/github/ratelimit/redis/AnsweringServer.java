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
 * every script, whatever the script is. It says that it has all slots of a cluster.
 */
public final class AnsweringServer implements AutoCloseable {

	private final ServerSocket socket;

	private final String command;

	private final String answer;

	private final Runnable before;

	/**
	 * Starts the server.
	 * @param answer the answer, as it goes over the wire, byte by byte
	 */
	public AnsweringServer(String answer) {
		this("EVALSHA", answer, () -> {
		});
	}

	/**
	 * Starts a server that gives an answer to one command.
	 * @param command the name of the command
	 * @param answer the answer, as it goes over the wire, byte by byte
	 * @param before what is done before that is given; an {@link UncheckedIOException}
	 * breaks the connection
	 */
	public AnsweringServer(String command, String answer, Runnable before) {
		this.command = command;
		this.answer = answer;
		this.before = before;
		try {
			this.socket = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		start(this::accept);
	}

	private static void start(Runnable task) {
		Thread thread = new Thread(task, "answering-server");
		thread.setDaemon(true);
		thread.start();
	}

	public URI uri() {
		return URI.create("redis://127.0.0.1:" + this.socket.getLocalPort());
	}

	private void accept() {
		while (!this.socket.isClosed()) {
			try {
				Socket connection = this.socket.accept();
				start(() -> serve(connection));
			}
			catch (IOException ex) {
				// Closed.
			}
		}
	}

	private void serve(Socket accepted) {
		try (Socket connection = accepted) {
			InputStream in = new BufferedInputStream(connection.getInputStream());
			for (String line = readLine(in); !line.isEmpty(); line = readLine(in)) {
				String text = answer(readName(in, Integer.parseInt(line.substring(1))));
				connection.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
			}
		}
		catch (IOException | UncheckedIOException ex) {
			// The client has closed it, or a test breaks it.
		}
	}

	private String answer(String name) {
		if (name.equals(this.command)) {
			this.before.run();
			return this.answer;
		}
		return switch (name) {
			case "CLUSTER" ->
				"*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:%d\r\n".formatted(this.socket.getLocalPort());
			// As before Redis 6. Clients go on without.
			case "HELLO" -> "-ERR unknown command\r\n";
			default -> "+OK\r\n";
		};
	}

	/** Reads a command: parts with their lengths before them. */
	private static String readName(InputStream in, int parts) throws IOException {
		String name = "";
		for (int i = 0; i < parts; i++) {
			int length = Integer.parseInt(readLine(in).substring(1));
			String part = new String(in.readNBytes(length + 2), StandardCharsets.UTF_8);
			name = (i == 0) ? part.strip() : name;
		}
		return name;
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
