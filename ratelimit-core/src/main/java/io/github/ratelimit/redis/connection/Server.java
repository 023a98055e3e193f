package io.github.ratelimit.redis.connection;

/**
 * One server, to which a few connections send together what waits.
 */
public final class Server implements Servers {

	/**
	 * Creates a server, and connects to nothing yet.
	 * @param settings how it is used
	 * @param source where connections come from; closed with the server
	 * @param listener learns of what happens
	 * @param redirections where calls go that the server does not serve
	 */
	public Server(ServerSettings settings, ConnectionSource source, Listener listener, Redirections redirections) {
	}

	@Override
	public int slot(byte[] key) {
		return 0;
	}

	@Override
	public void submit(Call call) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Hands a call over whose slot is moving here: each of its commands is sent after an
	 * {@code ASKING}.
	 * @param call a call that waits
	 */
	public void submitAsking(Call call) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Returns whether the server counts as gone, so that calls fail at once.
	 * @return whether it does
	 */
	public boolean isOpen() {
		return false;
	}

	@Override
	public void close() {
	}

}
