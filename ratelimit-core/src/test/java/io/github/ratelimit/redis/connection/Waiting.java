package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;

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

	private final List<Long> waited = new ArrayList<>();

	private final List<Long> slept = new ArrayList<>();

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
		long[] waited = new long[this.callers];
		long[] slept = new long[this.callers];
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < this.callers; i++) {
			int own = i;
			threads.add(new Thread(() -> waited[own] = measure(ready, () -> call(server))));
			threads.add(new Thread(() -> slept[own] = measure(ready, Waiting::sleep)));
		}
		threads.forEach(Thread::start);
		try {
			for (Thread thread : threads) {
				thread.join();
			}
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		assertThat(waited).as("every caller has waited").doesNotContain(0);
		LongStream.of(waited).forEach(this.waited::add);
		LongStream.of(slept).forEach(this.slept::add);
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
			this.outcomes.add(Increment.of(server, "a", BUDGET));
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

	private static Duration percentile(List<Long> times, int percent) {
		long[] sorted = times.stream().mapToLong(Long::longValue).sorted().toArray();
		return Duration.ofNanos(sorted[Math.min(sorted.length - 1, sorted.length * percent / 100)]);
	}

	@Override
	public String toString() {
		return "%d callers, budget %d ms: waited %s, slept %s".formatted(this.callers, BUDGET.toMillis(),
				describe(this.waited), describe(this.slept));
	}

	private static String describe(List<Long> times) {
		return Arrays.stream(new int[] { 50, 99, 100 })
			.mapToObj((percent) -> (percent < 100 ? "p" + percent : "max") + " " + percentile(times, percent).toMillis()
					+ " ms")
			.toList()
			.toString();
	}

}
