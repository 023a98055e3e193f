package io.github.ratelimit.spring.decide;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The calls that run on this instance, of policies with one lease time. Calls that run
 * longer than a third of it are renewed, one after the other, on a daemon thread that
 * exists only while it does that.
 * <p>
 * Servlet containers sometimes drop a request without an event for its end, and who
 * acquires a call may never end it. So a call is renewed for longer than a stated time
 * only if a sign shows that it runs; otherwise its lease ends.
 * <p>
 * Safe for use by several threads.
 */
final class RunningCalls {

	private static final Logger logger = LoggerFactory.getLogger(RunningCalls.class);

	/**
	 * Of these parts of the lease, calls are renewed after two, and looked at in each.
	 */
	private static final int PARTS = 6;

	private final ConcurrentMap<Key, Running> running = new ConcurrentHashMap<>();

	/** Whether {@link #renew} will run. */
	private final AtomicBoolean scheduled = new AtomicBoolean();

	private volatile boolean paused;

	/** Held while calls are renewed. */
	private final ReentrantLock renewing = new ReentrantLock();

	private final long age;

	private final long longest;

	private final Consumer<PolicyCharge> renewal;

	private final Consumer<PolicyCharge> end;

	private final LongSupplier nanos;

	/** Runs a task after a part of the lease, and must not be blocked by it. */
	private final Executor later;

	private final Executor threads;

	/**
	 * Creates an instance without calls.
	 * @param lease the lease time
	 * @param longest how long a call is renewed without a sign that it runs
	 * @param renewal begins the lease of a call anew
	 * @param end removes a call that has ended
	 */
	RunningCalls(Duration lease, Duration longest, Consumer<PolicyCharge> renewal, Consumer<PolicyCharge> end) {
		this(lease, longest, renewal, end, System::nanoTime,
				CompletableFuture.delayedExecutor(lease.toNanos() / PARTS, TimeUnit.NANOSECONDS, Runnable::run),
				RunningCalls::startThread);
	}

	RunningCalls(Duration lease, Duration longest, Consumer<PolicyCharge> renewal, Consumer<PolicyCharge> end,
			LongSupplier nanos, Executor later, Executor threads) {
		this.age = 2 * lease.toNanos() / PARTS;
		this.longest = longest.toNanos();
		this.renewal = renewal;
		this.end = end;
		this.nanos = nanos;
		this.later = later;
		this.threads = threads;
	}

	private static void startThread(Runnable task) {
		Thread thread = new Thread(task, "ratelimit-renewal");
		thread.setDaemon(true);
		thread.start();
	}

	/** Adds a call, of which there is no sign yet. */
	void add(PolicyCharge call) {
		long now = this.nanos.getAsLong();
		this.running.put(Key.of(call), new Running(call, now, now, () -> false));
		schedule();
	}

	/** Tells what shows that a call runs, unless it has ended. */
	void watch(PolicyCharge call, BooleanSupplier sign) {
		this.running.computeIfPresent(Key.of(call),
				(key, running) -> new Running(call, running.since(), running.seen(), sign));
	}

	/** Removes a call before its end is counted. */
	void remove(PolicyCharge call) {
		this.running.remove(Key.of(call));
	}

	/**
	 * Renews no calls until it is resumed. Waits for the one in progress, but not long.
	 */
	void pause() {
		this.paused = true;
		try {
			if (this.renewing.tryLock(1, TimeUnit.SECONDS)) {
				this.renewing.unlock();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	void resume() {
		this.paused = false;
		schedule();
	}

	/** Forgets all calls, and renews no more. */
	void close() {
		this.paused = true;
		this.running.clear();
	}

	private void schedule() {
		if (!this.paused && !this.running.isEmpty() && this.scheduled.compareAndSet(false, true)
				&& !runs(this.later, this::startRenewal)) {
			this.scheduled.set(false);
		}
	}

	/** Runs on a thread of the JDK, which drops errors. */
	private void startRenewal() {
		if (this.paused || !runs(this.threads, this::renew)) {
			this.scheduled.set(false);
			schedule();
		}
	}

	/**
	 * There may be no more threads now; the next call, or part of the lease, tries again.
	 */
	private static boolean runs(Executor executor, Runnable task) {
		try {
			executor.execute(task);
			return true;
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			logger.debug("No thread can be started to renew calls", ex);
			return false;
		}
	}

	private void renew() {
		this.renewing.lock();
		try {
			this.running.forEach((key, running) -> {
				if (!this.paused && this.nanos.getAsLong() - running.since() >= this.age) {
					renew(key, running);
				}
			});
		}
		finally {
			this.renewing.unlock();
			this.scheduled.set(false);
			schedule();
		}
	}

	/** A call may end meanwhile, and must not be entered again by its renewal. */
	private void renew(Key key, Running running) {
		try {
			long now = this.nanos.getAsLong();
			long seen = isSeen(running) ? now : running.seen();
			if (now - seen >= this.longest) {
				this.running.remove(key, running);
				logger.debug("A call of the policy '{}' is not renewed: nothing shows that it runs", key.policy());
				return;
			}
			this.renewal.accept(running.call());
			if (this.running.computeIfPresent(key,
					(same, present) -> new Running(present.call(), now, seen, present.sign())) == null) {
				this.end.accept(running.call());
			}
		}
		catch (RuntimeException ex) {
			logger.debug("A call could not be renewed", ex);
		}
	}

	/** A sign that fails shows nothing. */
	private static boolean isSeen(Running running) {
		try {
			return running.sign().getAsBoolean();
		}
		catch (RuntimeException ex) {
			logger.debug("It is unknown whether a call runs", ex);
			return false;
		}
	}

	/** The same call may be counted by several policies. */
	private record Key(long call, String policy) {

		static Key of(PolicyCharge call) {
			return new Key(call.call(), call.charge().policy().name());
		}

	}

	/**
	 * A call that runs.
	 *
	 * @param since when it was admitted or renewed, in nanoseconds
	 * @param seen when it was admitted, or a sign has last shown that it runs
	 * @param sign whether something shows that it runs, or has shown it since the last
	 * time
	 */
	private record Running(PolicyCharge call, long since, long seen, BooleanSupplier sign) {

	}

}
