package io.github.ratelimit.redis.connection;

import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Sends what waits on one connection, a batch at a time, by a thread that is there only
 * while there is something to do.
 */
final class Lane implements WatchedSocket.Watch {

	/** Without a thread. */
	private static final int NONE = 0;

	/** At work: looks into the queue before it does anything else. */
	private static final int RUNNING = 1;

	/** Looks into the queue all the time, and once more after it has ceased to. */
	private static final int SPINNING = 2;

	/** Has to be woken, which whoever makes it {@link #RUNNING} does. */
	private static final int PARKED = 3;

	private static final int SPINS = (Runtime.getRuntime().availableProcessors() > 1) ? 200 : 0;

	/** How long a thread waits for something to do. */
	private static final long IDLE = TimeUnit.SECONDS.toNanos(10);

	/** After which a connection may have been closed by what is in between. */
	private static final long REST = TimeUnit.SECONDS.toNanos(1);

	/** How many budgets a batch may take to be sent, at least a second. */
	private static final int PATIENCE = 10;

	/** After a connection has failed though others have one. */
	private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(50);

	private final String name;

	private final Server server;

	private final AtomicInteger state = new AtomicInteger(NONE);

	private volatile @Nullable Thread thread;

	private volatile @Nullable Link link;

	private volatile boolean closed;

	/** What was sent and is not answered. */
	private volatile List<Call> sent = List.of();

	private volatile long sentAt;

	/** When this has sent something for the last time. */
	private long used = System.nanoTime() - REST;

	/** When this had its last connection. */
	private long connected = System.nanoTime();

	Lane(String name, Server server) {
		this.name = name;
		this.server = server;
	}

	boolean isSpinning() {
		return this.state.get() == SPINNING;
	}

	/** Returns whether it has waited, and does so no longer. */
	boolean wake() {
		if (this.state.get() == PARKED && this.state.compareAndSet(PARKED, RUNNING)) {
			LockSupport.unpark(this.thread);
			return true;
		}
		return false;
	}

	/** Returns whether it had no thread, and has one now. */
	boolean start() {
		if (this.state.get() == NONE && this.state.compareAndSet(NONE, RUNNING)) {
			try {
				BackgroundThread.start(this::run, this.name);
				return true;
			}
			catch (OutOfMemoryError ex) {
				// There can be no more threads.
				this.state.set(NONE);
			}
		}
		return false;
	}

	private void run() {
		this.thread = Thread.currentThread();
		boolean failed = true;
		try {
			while (awaitCalls()) {
				work();
			}
			failed = false;
		}
		finally {
			if (failed || this.closed) {
				release();
				this.state.set(NONE);
			}
			if (failed && !this.closed && this.server.isWaitedFor()) {
				// Who saw this at work has woken nobody.
				this.server.wake();
			}
		}
	}

	/** Returns whether there is something to do, and not that the thread is to end. */
	private boolean awaitCalls() {
		this.state.set(SPINNING);
		for (int i = 0; i < SPINS && !this.server.isWaitedFor(); i++) {
			Thread.onSpinWait();
		}
		this.state.set(PARKED);
		long end = System.nanoTime() + IDLE;
		while (!this.server.isWaitedFor() && !this.closed && this.state.get() == PARKED) {
			long left = end - System.nanoTime();
			if (left <= 0 && this.state.compareAndSet(PARKED, NONE)) {
				return false;
			}
			LockSupport.parkNanos(this, left);
		}
		this.state.set(RUNNING);
		return !this.closed;
	}

	/** Sends a batch. */
	private void work() {
		Link link = connect();
		if (link == null) {
			return;
		}
		List<Call> calls = this.server.next();
		if (!calls.isEmpty()) {
			exchange(link, calls);
		}
		if (link.isBorrowed() && this.link == link) {
			release();
		}
	}

	/** Returns a connection that may be used; {@code null} if there is none. */
	private @Nullable Link connect() {
		long start = System.nanoTime();
		boolean rested = start - this.used > REST;
		try {
			Link link = this.link;
			if (link != null && link.isUsable(rested)) {
				return link;
			}
			release();
			this.sentAt = start;
			link = this.server.source.connect(rested || this.server.breaker.hasBroken(this.connected), this, this.server.settings.budget());
			this.link = link;
			this.connected = start;
			return link;
		}
		catch (RuntimeException | OutOfMemoryError | StackOverflowError ex) {
			release();
			if (this.server.breaker.isHeard(start) || this.server.isConnected()) {
				// Others have a connection, and go on, or show that it is broken.
				this.server.wake();
				LockSupport.parkNanos(PAUSE);
			}
			else {
				this.server.notConnected(ex);
			}
			return null;
		}
	}

	private void exchange(Link link, List<Call> calls) {
		long start = System.nanoTime();
		this.sentAt = start;
		this.used = start;
		this.sent = calls;
		try {
			JedisException cause = this.server.breaker.cause();
			if (cause != null) {
				// Who told the others did not know of these.
				calls.forEach((call) -> call.fail(CallException.outage(cause)));
				return;
			}
			new Batch(calls, this.server.listener).exchange(link);
			long now = System.nanoTime();
			this.server.breaker.heard(now);
			this.server.listener.batch(calls.size(), now - start);
		}
		catch (JedisException ex) {
			fail(ex, calls);
		}
		catch (RuntimeException ex) {
			fail(new JedisException("A batch has failed", ex), calls);
		}
		finally {
			this.sent = List.of();
		}
	}

	/**
	 * The connection has failed, and shows by another one whether the server is there.
	 */
	private void fail(JedisException failure, List<Call> calls) {
		release();
		this.server.breaker.broken();
		boolean silence = ConnectionSource.isSilence(failure);
		if (silence && !this.server.breaker.isHeard(this.sentAt)) {
			this.server.breaker.open(failure);
		}
		JedisException reason = silence ? CallException.silence(failure) : failure;
		calls.forEach((call) -> call.fail(reason));
		if (this.server.breaker.cause() == null) {
			Link link = connect();
			if (link != null && link.isBorrowed()) {
				release();
			}
		}
	}

	private void release() {
		Link link = this.link;
		this.link = null;
		if (link != null) {
			link.release();
		}
	}

	@Override
	public void silent() throws SocketTimeoutException {
		SocketTimeoutException silence = new SocketTimeoutException("Nothing was received for " + this.server.settings.budget());
		boolean login = this.link == null;
		if (login && this.server.isConnected()) {
			// Others show whether the server is there.
			return;
		}
		if (this.server.breaker.isHeard(this.sentAt)) {
			// It is only this connection, or a login from before an outage ended.
			throw silence;
		}
		if (this.server.breaker.cause() == null) {
			this.server.breaker.open(new JedisConnectionException(silence));
		}
	}

	@Override
	public void received(long now) {
		this.server.breaker.heard(now);
	}

	/** Whether it has a connection, which may be broken without its knowing. */
	boolean isConnected() {
		return this.link != null;
	}

	/**
	 * Gives up a connection that does not even take what is to be sent, which is not seen
	 * by reading.
	 */
	void cutIfStuck(long now) {
		long patience = Math.max(REST, PATIENCE * this.server.settings.budget().toNanos());
		if (!this.sent.isEmpty() && now - this.sentAt > patience && !this.server.breaker.isHeard(this.sentAt)
				&& this.server.breaker.cause() == null) {
			this.server.breaker.open(new JedisConnectionException("Nothing could be sent",
					new SocketTimeoutException("Nothing was received for " + Duration.ofNanos(patience))));
			Link link = this.link;
			if (link != null) {
				link.cut();
			}
		}
	}

	/** Tells the callers of what was sent that the server counts as gone. */
	void refuse(JedisException cause) {
		this.sent.forEach((call) -> call.fail(CallException.silence(cause)));
	}

	/**
	 * Ends what is under way. A borrowed connection is given back when it is done, because
	 * a pool makes a new one for each that is broken, even while it is being closed.
	 */
	void close() {
		this.closed = true;
		Link link = this.link;
		if (link != null && !link.isBorrowed()) {
			link.cut();
		}
		Thread thread = this.thread;
		if (thread != null) {
			thread.interrupt();
		}
	}

}
