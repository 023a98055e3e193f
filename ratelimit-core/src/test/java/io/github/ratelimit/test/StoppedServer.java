package io.github.ratelimit.test;

import java.io.IOException;
import java.io.UncheckedIOException;

import redis.clients.jedis.UnifiedJedis;

/**
 * A server of a test that hangs until it is closed: it takes connections and requests, as
 * the operating system does that for it, and answers nothing.
 */
public final class StoppedServer implements AutoCloseable {

	private final long processId;

	private StoppedServer(long processId) {
		this.processId = processId;
	}

	/**
	 * Stops the process of a server, which must be one of the test's own.
	 * @param jedis a client of the server
	 */
	public static StoppedServer stop(UnifiedJedis jedis) {
		return stop(jedis.info("server"));
	}

	/**
	 * Stops the process of a server, which must be one of the test's own.
	 * @param info what the server says of itself
	 */
	public static StoppedServer stop(String info) {
		StoppedServer server = new StoppedServer(processId(info));
		server.signal("STOP");
		return server;
	}

	/** Returns the process of a server, which says that of itself. */
	public static long processId(String info) {
		return Long.parseLong(info.replaceFirst("(?s).*\\bprocess_id:(\\d+).*", "$1"));
	}

	@Override
	public void close() {
		signal("CONT");
	}

	private void signal(String name) {
		try {
			if (new ProcessBuilder("kill", "-" + name, Long.toString(this.processId)).inheritIO()
				.start()
				.waitFor() != 0) {
				throw new IllegalStateException("Process " + this.processId + " got no " + name);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted", ex);
		}
	}

}
