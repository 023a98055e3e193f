package io.github.ratelimit.lease;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * Runs tasks later, one at a time except after a pause that did not await the last one.
 * Its thread starts with the first task, and again with the first one after a pause.
 */
class Timer {

	/** The executor whose task a thread runs. */
	private final ThreadLocal<ExecutorService> own = new ThreadLocal<>();

	private final Duration patience;

	private @Nullable ScheduledThreadPoolExecutor executor;

	private boolean stopped;

	Timer(Duration patience) {
		this.patience = patience;
	}

	/**
	 * Runs a task after some nanoseconds, unless the timer is stopped, or a task from
	 * before a pause calls it.
	 */
	synchronized void schedule(Runnable task, long nanos) {
		ExecutorService own = this.own.get();
		if (!this.stopped && (own == null || own == this.executor)) {
			if (this.executor == null) {
				this.executor = newExecutor();
			}
			this.executor.schedule(task, nanos, TimeUnit.NANOSECONDS);
		}
	}

	private ScheduledThreadPoolExecutor newExecutor() {
		ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);
		executor.setThreadFactory((task) -> {
			Thread thread = new Thread(null, () -> {
				this.own.set(executor);
				task.run();
			}, "ratelimit-leases", 0, false);
			thread.setDaemon(true);
			return thread;
		});
		executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
		return executor;
	}

	/** Waits a while for the task in progress, and runs no others. */
	void stop() {
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
	void pause() {
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
