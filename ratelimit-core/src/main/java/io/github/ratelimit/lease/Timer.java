package io.github.ratelimit.lease;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * Runs tasks later, one at a time. Its thread starts with the first task, and again with
 * the first one after a pause.
 */
class Timer {

	private @Nullable ScheduledThreadPoolExecutor executor;

	private boolean stopped;

	/** Runs a task after some nanoseconds, unless the timer is stopped. */
	synchronized void schedule(Runnable task, long nanos) {
		if (!this.stopped) {
			if (this.executor == null) {
				this.executor = newExecutor();
			}
			this.executor.schedule(task, nanos, TimeUnit.NANOSECONDS);
		}
	}

	private static ScheduledThreadPoolExecutor newExecutor() {
		ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, (task) -> {
			Thread thread = new Thread(null, task, "ratelimit-leases", 0, false);
			thread.setDaemon(true);
			return thread;
		});
		executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
		return executor;
	}

	/** Pauses, and runs no more tasks. */
	void stop() {
		synchronized (this) {
			this.stopped = true;
		}
		pause();
	}

	/**
	 * Forgets the tasks that have not begun, and waits up to a second for the one in
	 * progress. Tasks that are scheduled meanwhile do not wait for it.
	 */
	void pause() {
		ExecutorService executor;
		synchronized (this) {
			executor = this.executor;
			this.executor = null;
		}
		if (executor != null) {
			executor.shutdown();
			try {
				executor.awaitTermination(1, TimeUnit.SECONDS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}
	}

}
