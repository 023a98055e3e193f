package io.github.ratelimit.spring.policy;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The calls that run on this instance, of policies with one lease time. Calls that run
 * longer than a third of it are renewed, one after the other, on a daemon thread that
 * exists only while it does that.
 * <p>
 * Servlet containers sometimes drop a request without an event for its end, and a future
 * may never be completed. So calls that nothing refers to any more are not renewed, and
 * their leases end.
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

	private volatile boolean closed;

	private final long age;

	private final Consumer<PolicyCharge> renewal;

	private final Consumer<PolicyCharge> end;

	private final LongSupplier nanos;

	private final Executor later;

	/** The same call may be counted by several policies. */
	private record Key(long call, String policy) {

		static Key of(PolicyCharge call) {
			return new Key(call.call(), call.charge().policy().name());
		}

	}

	/**
	 * A call, and when it was admitted or renewed, in nanoseconds.
	 */
	private record Running(WeakReference<PolicyCharge> call, long since) {

	}

	/**
	 * Creates an instance without calls.
	 * @param lease the lease time
	 * @param renewal begins the lease of a call anew
	 * @param end removes a call that has ended
	 */
	RunningCalls(Duration lease, Consumer<PolicyCharge> renewal, Consumer<PolicyCharge> end) {
		this(lease, renewal, end, System::nanoTime, CompletableFuture.delayedExecutor(lease.toNanos() / PARTS,
				TimeUnit.NANOSECONDS, RunningCalls::startThread));
	}

	RunningCalls(Duration lease, Consumer<PolicyCharge> renewal, Consumer<PolicyCharge> end, LongSupplier nanos,
			Executor later) {
		this.age = 2 * lease.toNanos() / PARTS;
		this.renewal = renewal;
		this.end = end;
		this.nanos = nanos;
		this.later = later;
	}

	private static void startThread(Runnable task) {
		Thread thread = new Thread(task, "ratelimit-renewal");
		thread.setDaemon(true);
		thread.start();
	}

	/** Adds a call, to be renewed for as long as something refers to the charge. */
	void add(PolicyCharge call) {
		this.running.put(Key.of(call), new Running(new WeakReference<>(call), this.nanos.getAsLong()));
		schedule();
	}

	/** Removes a call before its end is counted. */
	void remove(PolicyCharge call) {
		this.running.remove(Key.of(call));
	}

	/** Renews no more calls. */
	void close() {
		this.closed = true;
		this.running.clear();
	}

	private void schedule() {
		if (!this.closed && this.scheduled.compareAndSet(false, true)) {
			try {
				this.later.execute(this::renew);
			}
			catch (OutOfMemoryError ex) {
				// There can be no more threads; the next call tries again.
				this.scheduled.set(false);
				logger.debug("No thread can be started to renew calls", ex);
			}
		}
	}

	private void renew() {
		try {
			this.running.forEach((key, running) -> {
				PolicyCharge call = running.call().get();
				if (call == null) {
					this.running.remove(key, running);
				}
				else if (this.nanos.getAsLong() - running.since() >= this.age) {
					renew(key, running, call);
				}
			});
		}
		finally {
			this.scheduled.set(false);
			if (!this.running.isEmpty()) {
				schedule();
			}
		}
	}

	/** A call may end meanwhile, and must not be entered again by its renewal. */
	private void renew(Key key, Running running, PolicyCharge call) {
		try {
			long now = this.nanos.getAsLong();
			this.renewal.accept(call);
			if (!this.running.replace(key, running, new Running(running.call(), now))) {
				this.end.accept(call);
			}
		}
		catch (RuntimeException ex) {
			logger.debug("A call could not be renewed", ex);
		}
	}

}
