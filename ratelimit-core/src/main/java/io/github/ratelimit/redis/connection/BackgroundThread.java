package io.github.ratelimit.redis.connection;

/**
 * Starts the threads of connections. They may outlive the application that submits a
 * call, so they keep neither its class loader nor its thread locals. They do not keep the
 * process alive.
 */
public final class BackgroundThread {

	private BackgroundThread() {
	}

	/**
	 * Starts a thread.
	 * @throws OutOfMemoryError if there can be no more threads
	 */
	public static void start(Runnable task, String name) {
		Thread thread = new Thread(null, task, name, 0, false);
		thread.setDaemon(true);
		thread.setContextClassLoader(null);
		thread.start();
	}

}
