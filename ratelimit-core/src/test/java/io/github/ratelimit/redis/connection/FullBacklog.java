package io.github.ratelimit.redis.connection;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;

/**
 * A server that takes no connections, and does not refuse them either.
 */
final class FullBacklog implements AutoCloseable {

	private final ServerSocket server;

	private final List<Socket> waiting = new ArrayList<>();

	/** Connects to the server until nobody can. */
	FullBacklog(String host) throws IOException {
		this.server = new ServerSocket(0, 1, InetAddress.getByName(host));
		boolean full = false;
		while (!full) {
			Socket socket = new Socket();
			this.waiting.add(socket);
			try {
				socket.connect(new InetSocketAddress(host, port()), 500);
			}
			catch (SocketTimeoutException ex) {
				full = true;
			}
		}
	}

	int port() {
		return this.server.getLocalPort();
	}

	@Override
	public void close() throws IOException {
		for (Socket socket : this.waiting) {
			socket.close();
		}
		this.server.close();
	}

}
