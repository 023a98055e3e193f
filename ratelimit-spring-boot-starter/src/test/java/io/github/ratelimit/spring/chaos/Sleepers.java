package io.github.ratelimit.spring.chaos;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import org.awaitility.Awaitility;

/**
 * Threads that only sleep, again and again for the same time: how late other threads wake
 * that wait so long, on this machine and meanwhile.
 */
final class Sleepers implements AutoCloseable {

	private final Queue<Long> slept = new ConcurrentLinkedQueue<>();

	private final Duration time;

	private final List<Thread> threads;

	private volatile boolean done;

	Sleepers(int number, Duration time) {
		this.time = time;
		this.threads = Stream.generate(() -> new Thread(this::sleep)).limit(number).toList();
		this.threads.forEach(Thread::start);
	}

	private void sleep() {
		while (!this.done) {
			long start = System.nanoTime();
			long end = start + this.time.toNanos();
			for (long left = this.time.toNanos(); left > 0; left = end - System.nanoTime()) {
				LockSupport.parkNanos(left);
			}
			this.slept.add(System.nanoTime() - start);
		}
	}

	/** Returns how long all but so many percent have slept at most. */
	Duration percentile(int percent) {
		return percentile(this.slept, percent);
	}

	static Duration percentile(Collection<Long> nanos, int percent) {
		long[] sorted = nanos.stream().mapToLong(Long::longValue).sorted().toArray();
		return Duration.ofNanos(sorted[Math.min(sorted.length - 1, sorted.length * percent / 100)]);
	}

	/** Waits for the last sleeps. */
	@Override
	public void close() {
		this.done = true;
		Awaitility.await().until(() -> this.threads.stream().noneMatch(Thread::isAlive));
	}

}
