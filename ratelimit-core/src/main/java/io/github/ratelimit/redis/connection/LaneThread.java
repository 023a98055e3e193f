package io.github.ratelimit.redis.connection;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * The thread of a lane, which exists only while there are calls.
 */
final class LaneThread {

	private static final int NONE = 0;

	/** The thread works, and looks into the queue next. */
	private static final int RUNNING = 1;

	/** The thread polls the queue, and does so once more after the end of that. */
	private static final int SPINNING = 2;

	/** The thread sleeps. The thread that makes it {@link #RUNNING} wakes it. */
	private static final int PARKED = 3;

	private static final int SPINS = (Runtime.getRuntime().availableProcessors() > 1) ? 200 : 0;

	private static final long IDLE = TimeUnit.SECONDS.toNanos(10);

	private final Lane lane;

	private final Server server;

	private final AtomicInteger state = new AtomicInteger(NONE);

	private volatile @Nullable Thread thread;

	private volatile boolean closed;

	LaneThread(Lane lane, Server server) {
		this.lane = lane;
		this.server = server;
	}

	boolean awaitsLogin() {
		Thread thread = this.thread;
		return thread != null && this.server.source.awaitsLogin(thread);
	}

	boolean isSpinning() {
		return this.state.get() == SPINNING;
	}

	boolean wake() {
		if (this.state.get() == PARKED && this.state.compareAndSet(PARKED, RUNNING)) {
			LockSupport.unpark(this.thread);
			return true;
		}
		return false;
	}

	boolean start() {
		if (this.state.get() == NONE && this.state.compareAndSet(NONE, RUNNING)) {
			if (BackgroundThread.start(this::run, this.lane.name)) {
				return true;
			}
			this.state.set(NONE);
		}
		return false;
	}

	private void run() {
		this.thread = Thread.currentThread();
		boolean idle = false;
		try {
			while (!idle) {
				idle = !awaitCalls();
				if (!idle && this.server.isDisconnected()) {
					break;
				}
				if (!idle) {
					this.lane.work();
				}
			}
		}
		finally {
			if (!idle || this.closed) {
				this.lane.release();
				this.state.set(NONE);
			}
			if (!idle && !this.closed && this.server.hasWaiting()) {
				// Callers that saw this running have woken no other lane.
				this.server.wake();
			}
		}
	}

	private boolean awaitCalls() {
		this.state.set(SPINNING);
		for (int i = 0; i < SPINS && !this.server.hasWaiting(); i++) {
			Thread.onSpinWait();
		}
		this.state.set(PARKED);
		long end = System.nanoTime() + IDLE;
		while (!this.server.hasWaiting() && !this.server.isDisconnected() && !this.closed
				&& this.state.get() == PARKED) {
			long left = end - System.nanoTime();
			if (left <= 0 && this.state.compareAndSet(PARKED, NONE)) {
				return false;
			}
			LockSupport.parkNanos(this, left);
		}
		this.state.set(RUNNING);
		return !this.closed;
	}

	/** Ends the thread and releases the connection, once it has nothing to do. */
	void disconnect(long end) {
		wake();
		Thread thread = this.thread;
		try {
			if (thread != null) {
				thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		if (this.state.compareAndSet(NONE, RUNNING)) {
			this.lane.release();
			this.state.set(NONE);
			if (this.server.hasWaiting()) {
				this.server.wake();
			}
		}
	}

	void close() {
		this.closed = true;
		Thread thread = this.thread;
		if (thread != null) {
			thread.interrupt();
		}
	}

}
