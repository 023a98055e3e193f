package io.github.ratelimit.redis.connection;

import java.util.concurrent.Executor;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts daemon threads. They may outlive the application that submits a call, so they
 * keep neither its class loader nor its thread locals.
 */
public final class BackgroundThread {

	private static final Logger logger = LoggerFactory.getLogger(BackgroundThread.class);

	private BackgroundThread() {
	}

	/**
	 * Returns what runs each task on a thread of its own, or on that of the caller if
	 * there can be no more.
	 */
	public static Executor each(String name) {
		return (task) -> {
			if (!start(task, name)) {
				task.run();
			}
		};
	}

	/** Returns whether the thread was started; not if there can be no more threads. */
	public static boolean start(Runnable task, String name) {
		Thread thread = new Thread(null, task, name, 0, false);
		thread.setDaemon(true);
		thread.setContextClassLoader(null);
		try {
			thread.start();
			return true;
		}
		catch (OutOfMemoryError ex) {
			logger.debug("The thread {} cannot be started", name, ex);
			return false;
		}
	}

}
