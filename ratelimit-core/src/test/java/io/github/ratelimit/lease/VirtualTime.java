package io.github.ratelimit.lease;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.function.LongSupplier;

import io.github.ratelimit.StoreException;

/**
 * A time that stands still until it is moved, and runs the tasks that are due on the way.
 */
final class VirtualTime implements InstantSource {

	/** In nanoseconds since the epoch. */
	private long now;

	private long tasks;

	private final PriorityQueue<Task> queue = new PriorityQueue<>(
			Comparator.comparingLong(Task::at).thenComparingLong(Task::number));

	VirtualTime(String now) {
		this.now = ChronoUnit.NANOS.between(Instant.EPOCH, Instant.parse(now));
	}

	@Override
	public Instant instant() {
		return Instant.EPOCH.plusNanos(this.now);
	}

	long nanos() {
		return this.now;
	}

	/** A clock of another machine, whose rate differs by some parts per million. */
	LongSupplier clock(long offset, long ppm) {
		long start = this.now;
		return () -> offset + (this.now - start) + (this.now - start) / 1_000_000 * ppm;
	}

	/** Moves on without running tasks, as during a call of the store. */
	void pass(long nanos) {
		this.now += nanos;
	}

	void advance(long nanos) {
		long end = this.now + nanos;
		while (!this.queue.isEmpty() && this.queue.peek().at <= end) {
			Task task = this.queue.remove();
			this.now = Math.max(this.now, task.at);
			task.run();
		}
		this.now = Math.max(this.now, end);
	}

	void schedule(Runnable task, long nanos) {
		this.queue.add(new Task(this.now + Math.max(0, nanos), this.tasks++, task));
	}

	/** The timer of one process, which ends with it. */
	class ProcessTimer extends BackgroundTimer {

		private boolean stopped;

		ProcessTimer() {
			super("test", Duration.ZERO);
		}

		@Override
		public boolean schedule(Runnable task, long nanos) {
			VirtualTime.this.schedule(() -> {
				if (!this.stopped) {
					task.run();
				}
			}, nanos);
			return true;
		}

		@Override
		public void pause() {
			this.stopped = true;
		}

	}

	private record Task(long at, long number, Runnable task) {

		/** As a thread of its own, of which nobody sees the failures. */
		void run() {
			try {
				this.task.run();
			}
			catch (StoreException ex) {
				// What follows is not done.
			}
		}

	}

}
