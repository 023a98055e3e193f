package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.Collection;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import io.github.ratelimit.test.Threads;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How long callers wait for a server, and threads that only sleep for the same time.
 */
final class Waiting {

	static final Duration BUDGET = Duration.ofMillis(100);

	/** Only a quiet machine has times that say something. */
	private static final boolean TIMED = Boolean.getBoolean("ratelimit.test.times");

	private static final Duration MORE = Duration.ofMillis(20);

	private final int callers;

	private final Queue<Long> waited = new ConcurrentLinkedQueue<>();

	private final Queue<Long> slept = new ConcurrentLinkedQueue<>();

	private final Queue<Object> outcomes = new ConcurrentLinkedQueue<>();

	Waiting(int callers) {
		this.callers = callers;
	}

	/** Returns the answers, and the reasons for which there was none. */
	Collection<Object> outcomes() {
		return this.outcomes;
	}

	/** Calls a server with all callers at once. */
	void waitFor(Server server) {
		CountDownLatch ready = new CountDownLatch(2 * this.callers);
		try {
			Threads.run(2 * this.callers, 1, (thread, attempt) -> {
				boolean calls = thread < this.callers;
				(calls ? this.waited : this.slept).add(measure(ready, calls ? () -> call(server) : Waiting::sleep));
			});
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static long measure(CountDownLatch ready, Runnable task) {
		ready.countDown();
		try {
			ready.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		long start = System.nanoTime();
		task.run();
		return System.nanoTime() - start;
	}

	private void call(Server server) {
		try {
			this.outcomes.add(Increment.submit(server, BUDGET, "a").number());
		}
		catch (CallException ex) {
			this.outcomes.add(ex.reason());
		}
	}

	private static void sleep() {
		long end = System.nanoTime() + BUDGET.toNanos();
		for (long left = BUDGET.toNanos(); left > 0; left = end - System.nanoTime()) {
			LockSupport.parkNanos(left);
		}
	}

	/**
	 * Asserts that callers wait hardly longer than for their budget, where times are
	 * asserted. Few times have no percentile but their maximum, which shows the machine.
	 */
	void assertInTime(String fault) {
		System.out.println(fault + ", " + this);
		if (!TIMED) {
			return;
		}
		assertThat(percentile(this.waited, 50)).as("median").isLessThan(percentile(this.slept, 50).plus(MORE));
		if (this.waited.size() >= 100) {
			assertThat(percentile(this.waited, 99)).as("99th percentile")
				.isLessThan(percentile(this.slept, 99).plus(MORE));
		}
	}

	private static Duration percentile(Collection<Long> times, int percent) {
		long[] sorted = times.stream().mapToLong(Long::longValue).sorted().toArray();
		return Duration.ofNanos(sorted[Math.min(sorted.length - 1, sorted.length * percent / 100)]);
	}

	@Override
	public String toString() {
		return "%d callers, budget %d ms: waited %s, slept %s".formatted(this.callers, BUDGET.toMillis(),
				describe(this.waited), describe(this.slept));
	}

	private static String describe(Collection<Long> times) {
		return Stream.of(50, 99, 100)
			.map((percent) -> "p" + percent + " " + percentile(times, percent).toMillis() + " ms")
			.toList()
			.toString();
	}

}
