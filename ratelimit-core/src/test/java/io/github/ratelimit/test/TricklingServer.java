package io.github.ratelimit.test;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;

/**
 * Answers a login at once, and what comes after it byte by byte, without an end. It
 * breaks connections much later than any test waits.
 */
public final class TricklingServer extends TestServer {

	/** A line without an end. */
	private static final byte[] LINE = { '+' };

	/** The beginning of a long message of TLS. */
	private static final byte[] HANDSHAKE = { 22, 3, 3, 63, -1 };

	private static final Set<String> LOGIN = Set.of("PING", "AUTH", "SELECT", "CLIENT");

	private static final Duration END = Duration.ofSeconds(20);

	private final boolean encrypted;

	/**
	 * Starts the server.
	 * @param encrypted whether it is the handshake of TLS that has no end
	 */
	public TricklingServer(boolean encrypted) {
		this.encrypted = encrypted;
		start();
	}

	@Override
	protected void serve(Socket socket, InputStream in) throws IOException {
		if (this.encrypted) {
			in.read();
		}
		else {
			answerLogin(in, socket.getOutputStream());
		}
		trickle(socket, in, this.encrypted ? HANDSHAKE : LINE);
	}

	/** Returns after the first command that is not part of a login. */
	private static void answerLogin(InputStream in, OutputStream out) throws IOException {
		for (String name = readCommand(in); LOGIN.contains(name); name = readCommand(in)) {
			out.write((name.equals("PING") ? "+PONG\r\n" : "+OK\r\n").getBytes(StandardCharsets.US_ASCII));
		}
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

}
