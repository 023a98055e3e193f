package io.github.ratelimit.lease;

import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Runs tasks later, one at a time.
 */
interface Timer {

	/**
	 * Runs a task after some time. Does nothing once the timer is stopped.
	 * @param nanos the time, in nanoseconds; 0 for as soon as possible
	 */
	void schedule(Runnable task, long nanos);

	/** Waits for the task in progress, and runs no others. */
	void stop();

	/** Creates a timer with a thread of its own, which starts with the first task. */
	static Timer ofThread() {
		ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, (task) -> {
			Thread thread = new Thread(null, task, "ratelimit-leases", 0, false);
			thread.setDaemon(true);
			return thread;
		}, (task, stopped) -> {
		});
		executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
		return new Timer() {

			@Override
			public void schedule(Runnable task, long nanos) {
				executor.schedule(task, nanos, TimeUnit.NANOSECONDS);
			}

			@Override
			public void stop() {
				executor.shutdown();
				try {
					executor.awaitTermination(1, TimeUnit.SECONDS);
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
			}

		};
	}

}
