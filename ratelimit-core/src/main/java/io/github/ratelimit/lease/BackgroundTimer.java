package io.github.ratelimit.lease;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks later, one at a time except after a pause that did not await the last one.
 * Its daemon thread starts with the first task, and again with the first one after a
 * pause. Safe for use by several threads.
 */
public class BackgroundTimer {

	private static final Logger logger = LoggerFactory.getLogger(BackgroundTimer.class);

	/** The executor whose task a thread runs. */
	private final ThreadLocal<ExecutorService> own = new ThreadLocal<>();

	private final String name;

	private final Duration patience;

	private @Nullable ScheduledThreadPoolExecutor executor;

	private boolean stopped;

	/**
	 * Creates a timer without a thread.
	 * @param name the name of the thread
	 * @param patience how long a pause waits for the task in progress
	 */
	public BackgroundTimer(String name, Duration patience) {
		this.name = name;
		this.patience = patience;
	}

	/**
	 * Runs a task after some nanoseconds, unless the timer is stopped, or a task from
	 * before a pause calls it.
	 * @param nanos the time, 0 or more
	 * @return false if the task will not run, also because there can be no more threads
	 * now
	 */
	public synchronized boolean schedule(Runnable task, long nanos) {
		ExecutorService own = this.own.get();
		if (this.stopped || (own != null && own != this.executor)) {
			return false;
		}
		if (this.executor == null) {
			this.executor = newExecutor();
		}
		try {
			this.executor.schedule(task, nanos, TimeUnit.NANOSECONDS);
			return true;
		}
		catch (OutOfMemoryError ex) {
			// Of no other task, or there would be a thread. Requests are served.
			this.executor.getQueue().clear();
			logger.debug("The thread {} cannot be started", this.name, ex);
			return false;
		}
	}

	private ScheduledThreadPoolExecutor newExecutor() {
		ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);
		executor.setThreadFactory((task) -> newThread(() -> {
			this.own.set(executor);
			task.run();
		}));
		executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
		return executor;
	}

	Thread newThread(Runnable task) {
		Thread thread = new Thread(null, task, this.name, 0, false);
		thread.setDaemon(true);
		return thread;
	}

	/** Waits a while for the task in progress, and runs no others. */
	public void stop() {
		synchronized (this) {
			this.stopped = true;
		}
		pause();
	}

	/**
	 * Waits a while for the task in progress, and forgets the others, also those of that
	 * task, however long it takes. What other threads schedule meanwhile does not wait
	 * for it.
	 */
	public void pause() {
		ExecutorService executor;
		synchronized (this) {
			executor = this.executor;
			this.executor = null;
		}
		if (executor != null) {
			executor.shutdown();
			try {
				executor.awaitTermination(this.patience.toNanos(), TimeUnit.NANOSECONDS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}
	}

}
