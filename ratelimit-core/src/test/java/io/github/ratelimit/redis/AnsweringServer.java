package io.github.ratelimit.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

import io.github.ratelimit.test.TestServer;

/**
 * Something that is no Redis, such as a proxy with a fault: it gives the same answer to
 * every script, whatever the script is. It says that it has all slots of a cluster.
 */
public final class AnsweringServer extends TestServer {

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
		start();
	}

	@Override
	protected void serve(Socket connection, InputStream in) throws IOException {
		for (String name = readCommand(in); !name.isEmpty(); name = readCommand(in)) {
			connection.getOutputStream().write(answer(name).getBytes(StandardCharsets.ISO_8859_1));
		}
	}

	private String answer(String name) {
		if (name.equals(this.command)) {
			this.before.run();
			return this.answer;
		}
		return switch (name) {
			case "CLUSTER" -> "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:%d\r\n".formatted(port());
			// As before Redis 6. Clients go on without.
			case "HELLO" -> "-ERR unknown command\r\n";
			default -> "+OK\r\n";
		};
	}

}
