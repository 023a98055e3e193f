package io.github.ratelimit.redis.connection;

import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

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

	/** Runs each task on a thread of its own, or on that of the caller if need be. */
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

	/** Waits on a monitor that the caller holds until something is so, or time is up. */
	public static void await(Object monitor, BooleanSupplier condition, long time) {
		long end = System.nanoTime() + time;
		try {
			for (long left = time; left > 0 && !condition.getAsBoolean(); left = end - System.nanoTime()) {
				TimeUnit.NANOSECONDS.timedWait(monitor, left);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
