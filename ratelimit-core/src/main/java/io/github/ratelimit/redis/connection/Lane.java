package io.github.ratelimit.redis.connection;

import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Sends the calls that wait over one connection, one batch at a time. Its thread exists
 * only while there are calls.
 */
final class Lane implements WatchedSocket.Watch {

	private static final Logger logger = LoggerFactory.getLogger(Lane.class);

	/** There is no thread. */
	private static final int NONE = 0;

	/** The thread works, and looks into the queue next. */
	private static final int RUNNING = 1;

	/** The thread polls the queue, and does so once more after the end of that. */
	private static final int SPINNING = 2;

	/** The thread sleeps. The thread that makes it {@link #RUNNING} wakes it. */
	private static final int PARKED = 3;

	private static final int SPINS = (Runtime.getRuntime().availableProcessors() > 1) ? 200 : 0;

	/** How long a thread waits for calls before it ends. */
	private static final long IDLE = TimeUnit.SECONDS.toNanos(10);

	/** How long an idle connection is trusted not to have been closed. */
	private static final long REST = TimeUnit.SECONDS.toNanos(1);

	/** How many budgets a batch may take to be sent, at least a second. */
	private static final int PATIENCE = 10;

	/** Pause after a connection has failed while other lanes are connected. */
	private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(50);

	private final String name;

	private final Server server;

	private final AtomicInteger state = new AtomicInteger(NONE);

	private volatile @Nullable Thread thread;

	private volatile @Nullable Link link;

	private volatile boolean closed;

	/** Calls that were sent and are not answered. */
	private volatile List<Call> sent = List.of();

	private volatile long sentAt;

	/** When something was last sent. */
	private long used = System.nanoTime() - REST;

	Lane(String name, Server server) {
		this.name = name;
		this.server = server;
	}

	boolean isSpinning() {
		return this.state.get() == SPINNING;
	}

	/** Wakes the thread, and returns whether it was asleep. */
	boolean wake() {
		if (this.state.get() == PARKED && this.state.compareAndSet(PARKED, RUNNING)) {
			LockSupport.unpark(this.thread);
			return true;
		}
		return false;
	}

	/** Starts a thread, and returns whether there was none. */
	boolean start() {
		if (this.state.get() == NONE && this.state.compareAndSet(NONE, RUNNING)) {
			if (BackgroundThread.start(this::run, this.name)) {
				return true;
			}
			this.state.set(NONE);
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
			if (failed && !this.closed && this.server.hasWaiting()) {
				// Callers that saw this running have woken no other lane.
				this.server.wake();
			}
		}
	}

	/** Waits for calls. Returns whether the thread goes on. */
	private boolean awaitCalls() {
		this.state.set(SPINNING);
		for (int i = 0; i < SPINS && !this.server.hasWaiting(); i++) {
			Thread.onSpinWait();
		}
		this.state.set(PARKED);
		long end = System.nanoTime() + IDLE;
		while (!this.server.hasWaiting() && !this.closed && this.state.get() == PARKED) {
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
		if (link.isBorrowed()) {
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
			link = this.server.source.connect(rested, this, this.server.settings.budget());
			this.link = link;
			return link;
		}
		catch (Throwable ex) {
			release();
			logger.debug("{} has no connection", this.name, ex);
			if (this.server.breaker.isHeard(start) || this.server.isConnected()) {
				// The other lanes go on, or find that their connections are broken.
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
				// The thread that refused all calls did not know of these.
				calls.forEach((call) -> call.fail(CallException.outage(cause)));
				return;
			}
			new Batch(calls, this.server.listener).exchange(link);
			long now = System.nanoTime();
			this.server.breaker.heard(now);
			this.server.listener.batch(calls.size(), now - start);
		}
		catch (Throwable ex) {
			fail((ex instanceof JedisException cause) ? cause : new JedisException("A batch has failed", ex), calls);
		}
		finally {
			this.sent = List.of();
		}
	}

	/**
	 * Handles a broken connection. A new one shows whether the server is available.
	 */
	private void fail(JedisException failure, List<Call> calls) {
		release();
		boolean silence = ConnectionSource.isSilence(failure);
		if (silence && !this.server.breaker.isHeard(this.sentAt)) {
			this.server.breaker.open(failure);
		}
		JedisException reason = silence ? CallException.silence(failure) : failure;
		calls.forEach((call) -> call.fail(reason));
		if (this.server.breaker.cause() == null) {
			connect();
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
		SocketTimeoutException silence = new SocketTimeoutException(
				"Nothing was received for " + this.server.settings.budget());
		boolean login = this.link == null;
		if (login && this.server.isConnected()) {
			// The other lanes show whether the server is available.
			return;
		}
		if (this.server.breaker.isHeard(this.sentAt)) {
			// Only this connection is silent, or a login began before an outage ended.
			throw silence;
		}
		this.server.breaker.open(new JedisConnectionException(silence));
	}

	@Override
	public void received(long now) {
		this.server.breaker.heard(now);
	}

	/** Whether there is a connection, which may be broken unnoticed. */
	boolean isConnected() {
		return this.link != null;
	}

	/**
	 * Gives up a connection that blocks while sending, which no timeout of reading shows.
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

	/** Fails the calls that were sent, because the server is unavailable. */
	void refuse(JedisException cause) {
		this.sent.forEach((call) -> call.fail(CallException.silence(cause)));
	}

	/**
	 * Ends what is under way. A borrowed connection is given back when it is done,
	 * because a pool makes a new one for each that is broken, even while it is being
	 * closed.
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
