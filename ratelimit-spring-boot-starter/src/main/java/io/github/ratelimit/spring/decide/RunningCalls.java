package io.github.ratelimit.spring.decide;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import io.github.ratelimit.lease.BackgroundTimer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The calls that run on this instance, of policies with one lease time. Calls that run
 * longer than a third of it are renewed, one after the other, by a timer.
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

	/** Whether the timer will call {@link #renew}. */
	private final AtomicBoolean scheduled = new AtomicBoolean();

	private volatile boolean paused;

	private final long part;

	private final long longest;

	private final BackgroundTimer timer;

	private final LongSupplier nanos;

	private final Consumer<PolicyCharge> renewal;

	private final Consumer<PolicyCharge> end;

	/**
	 * Creates an instance without calls.
	 * @param lease the lease time
	 * @param longest how long a call is renewed without a sign that it runs
	 * @param renewal begins the lease of a call anew
	 * @param end removes a call that has ended
	 */
	RunningCalls(Duration lease, Duration longest, BackgroundTimer timer, LongSupplier nanos,
			Consumer<PolicyCharge> renewal, Consumer<PolicyCharge> end) {
		this.part = lease.toNanos() / PARTS;
		this.longest = longest.toNanos();
		this.timer = timer;
		this.nanos = nanos;
		this.renewal = renewal;
		this.end = end;
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
	 * Renews no more calls, until {@link #resume} is called after the timer is paused.
	 */
	void pause() {
		this.paused = true;
	}

	void resume() {
		this.paused = false;
		this.scheduled.set(false);
		schedule();
	}

	/** If there can be no thread now, the next call tries again. */
	private void schedule() {
		if (!this.paused && !this.running.isEmpty() && this.scheduled.compareAndSet(false, true)
				&& !this.timer.schedule(this::renew, this.part)) {
			this.scheduled.set(false);
		}
	}

	private void renew() {
		try {
			this.running.forEach((key, running) -> {
				if (!this.paused && this.nanos.getAsLong() - running.since() >= 2 * this.part) {
					renew(key, running);
				}
			});
		}
		finally {
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
