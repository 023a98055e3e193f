package io.github.ratelimit.redis.connection;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.List;

/**
 * A server that takes no connections, and does not refuse them either.
 */
final class FullBacklog {

	private FullBacklog() {
	}

	/** Connects until nobody can. */
	static void fill(ServerSocket server, List<Socket> waiting) throws IOException {
		while (waiting.size() < 100) {
			Socket socket = new Socket();
			waiting.add(socket);
			try {
				socket.connect(new InetSocketAddress(server.getInetAddress(), server.getLocalPort()), 500);
			}
			catch (SocketTimeoutException ex) {
				return;
			}
		}
		throw new IllegalStateException("The server takes any number of connections");
	}

}
